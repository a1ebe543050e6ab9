"""What each optimisation is worth on the host: gradients compiled without it, timed in turn in one process.

    python -m benchmarks.ablation_host build FOLDER [--without PASS ...]                    where the compilers are
    python -m benchmarks.ablation_host measure FOLDER --output results/ablation_host.json   where the cores are

FOLDER has one folder of artifacts for each optimisation, named after it, that was left out; `none` has them all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import click
import numpy as np

import enzyme_driver as adgen
from benchmarks import build_openmp
from benchmarks.build_ablation import HOST, NONE
from benchmarks.host_cases import CASES, FITS, HostCase
from benchmarks.host_kernels import KERNEL_CASES, HostKernel
from benchmarks.host_programs import PROGRAM_CASES
from benchmarks.openmp import device, gradient_of, in_turn, shadows_for

EVERY: tuple[HostCase | HostKernel, ...] = (*CASES, *FITS, *KERNEL_CASES, *PROGRAM_CASES)
LEFT_OUT = sorted(HOST | {"count-strides", "merge-growing-caches", "separate-decisions"})
THREADS = (1, 8)


@dataclass(frozen=True)
class Outcome:
    """A gradient without one optimisation; `ratio` is the median over rounds of its time over that with everything."""

    case: str
    size: str
    threads: int
    disabled: str
    gradient_ms: float
    ratio: float
    device: str
    date: str

    def __str__(self) -> str:
        without = f"{self.gradient_ms:9.2f} ms  {self.ratio:6.3f} without {self.disabled}"
        return f"{self.case:20} {self.threads:2} threads  {without}"


def measure(case: HostCase | HostKernel, folder: Path, threads: int) -> list[Outcome]:
    """In this process, which has that many threads."""
    there = [name for name in (NONE, *LEFT_OUT) if (folder / name / case.name).is_dir()]
    found = {name: adgen.load(folder / name / case.name)[case.function] for name in there}
    first = found[NONE]
    args = case.make(np.random.default_rng(1))
    runs = {name: gradient_of(compiled, case) for name, compiled in found.items()}
    rounds = in_turn(args, shadows_for(first, args), runs)
    today = datetime.now(UTC).date().isoformat()
    return [
        Outcome(
            *(case.name, case.size, threads, name, round(median(rounds[name]), 3)),
            *(round(median(a / b for a, b in zip(rounds[name], rounds[NONE], strict=True)), 3), device(), today),
        )
        for name in runs
    ]


def measured(case: HostCase | HostKernel, folder: Path, threads: int) -> list[Outcome]:
    """In a process of its own."""
    argv = [sys.executable, "-m", "benchmarks.ablation_host", "one", str(folder), case.name, str(threads)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    return [Outcome(**row) for row in json.loads(done.stdout)]


@click.group(help=(__doc__ or "").splitlines()[0])
def main() -> None:
    """The subcommands say what is done."""


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--without", multiple=True, type=click.Choice(LEFT_OUT), help="Only these are left out.")
def build(folder: Path, without: Iterable[str]) -> None:
    """Compile every case with everything, and without each optimisation."""
    from enzyme_driver import cli

    for name in (NONE, *(without or LEFT_OUT)):
        for case in EVERY:
            left_out = [] if name == NONE else ["--disable", name]
            if cli.run([*build_openmp.command(case, folder / name), *left_out]):
                raise SystemExit(f"{case.name} without {name} was not compiled")


@main.command("measure")
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Where the figures go.")
def every(folder: Path, output: Path) -> None:
    """Time the cases that were built, with one thread and, where they are parallel, with eight."""
    found: list[Outcome] = []
    for case in EVERY:
        if not (folder / NONE / case.name).is_dir():
            continue
        for threads in THREADS if isinstance(case, HostKernel) or len(case.at_most) > 1 else THREADS[:1]:
            for each in measured(case, folder, threads):
                found.append(each)
                click.echo(str(each))
            output.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n", encoding="utf-8")


@main.command(hidden=True)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("name")
@click.argument("threads", type=int)
def one(folder: Path, name: str, threads: int) -> None:
    """One case, in this process."""
    (case,) = [case for case in EVERY if case.name == name]
    click.echo(json.dumps([asdict(each) for each in measure(case, folder, threads)]))


if __name__ == "__main__":
    main()
