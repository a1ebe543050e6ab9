"""Times on the host: C++ programs with OpenMP, CUDA kernels, and the gradients of both.

    python -m benchmarks.build_openmp FOLDER [case ...]                                    where the compilers are
    python -m benchmarks.openmp FOLDER --output benchmarks/results/openmp.json [case ...]  where the cores are

Every case runs with 1 and 2 threads, and with 4, 8 and 16 where the machine has as many cores. All that is compared
runs in turn in one process; figures are medians, in milliseconds. Launches of kernels are prepared, as what was written
by hand does not look at its arguments. What OUTPUT has of other cases stays.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

import click
import numpy as np

import enzyme_driver as adgen
from benchmarks.host_cases import CASES, Arguments, HostCase
from benchmarks.host_kernels import KERNEL_CASES, HostKernel
from benchmarks.results_file import Row, merged
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel

TEAMS = (1, 2, 4, 8, 16)
SECONDS, FEWEST = 2.0, 3

Run = Callable[[], object]
Prepare = Callable[[Arguments, Arguments], Run]
"""Takes the arguments and the shadows, both fresh."""


@dataclass(frozen=True)
class Figure:
    """One line of the results; what was written by hand is there for CUDA kernels only."""

    case: str
    size: str
    threads: int
    primal_ms: float
    gradient_ms: float
    ratio: float
    at_most: float
    device: str
    date: str
    by_hand_ms: float | None = None
    over_hand: float | None = None
    over_hand_at_most: float | None = None

    def __str__(self) -> str:
        hand = "" if self.over_hand is None else f"  primal / by hand {self.over_hand:5.2f}"
        return (
            f"{self.case:20} {self.threads:2} threads  primal {self.primal_ms:9.2f} ms  gradient "
            f"{self.gradient_ms:9.2f} ms  ratio {self.ratio:6.2f} (at most {self.at_most}){hand}"
        )


def device() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{models[0] if models else platform.processor()}, {os.cpu_count()} cores"


def measure(case: HostCase | HostKernel, folder: Path, threads: int) -> Figure:
    """In this process, which has that many threads."""
    compiled = adgen.load(folder / case.name)[case.function]
    args = case.make(np.random.default_rng(1))
    runs: dict[str, Prepare] = {}
    if isinstance(case, HostKernel):
        hand = case.by_hand(folder / "by_hand.so")
        runs["by_hand"] = lambda args, _: partial(hand, args)
    if isinstance(compiled, Kernel) and isinstance(case, HostKernel):
        launched = compiled[case.launch]
        runs["primal"] = lambda args, _: launched.prepare(*args.values())
    else:
        runs["primal"] = lambda args, _: partial(compiled, *args.values())
    runs["gradient"] = gradient_of(compiled, case)
    return _figure(case, threads, in_turn(args, shadows_for(compiled, args), runs))


def gradient_of(compiled: Kernel | Function, case: HostCase | HostKernel) -> Prepare:
    if isinstance(compiled, Kernel) and isinstance(case, HostKernel):
        launched = compiled.gradient[case.launch]
        return lambda args, shadows: launched.prepare(*args.values(), shadows=shadows)
    return lambda args, shadows: partial(compiled.gradient, *args.values(), shadows=shadows)


def shadows_for(compiled: Kernel | Function, args: Arguments) -> Arguments:
    """Ones for what is written, zeros for the rest."""
    shadows = {p.name: np.zeros_like(args[p.name]) for p in compiled.signature if p.activity == "duplicated"}
    shadows |= {p.name: np.zeros(1) for p in compiled.signature if p.activity == "active"}
    for parameter in compiled.signature:
        if parameter.writes and parameter.name in shadows:
            for part in _parts(shadows[parameter.name]):
                part[...] = 1
    return shadows


def _parts(array: np.ndarray) -> list[np.ndarray]:
    return [array[name] for name in array.dtype.names] if array.dtype.names else [array]


def _figure(case: HostCase | HostKernel, threads: int, rounds: Mapping[str, list[float]]) -> Figure:
    def over(name: str, other: str) -> float:
        return round(median(a / b for a, b in zip(rounds[name], rounds[other], strict=True)), 2)

    def typical(name: str) -> float:
        return round(median(rounds[name]), 3)

    today = dt.datetime.now(dt.UTC).date().isoformat()
    times = (typical("primal"), typical("gradient"), over("gradient", "primal"))
    made = partial(Figure, case.name, case.size, threads, *times)
    if isinstance(case, HostCase):
        return made(case.at_most[threads if threads in case.at_most else max(case.at_most)], device(), today)
    return made(case.at_most, device(), today, typical("by_hand"), over("primal", "by_hand"), case.over_hand_at_most)


def in_turn(args: Arguments, shadows: Arguments, runs: Mapping[str, Prepare]) -> dict[str, list[float]]:
    """Milliseconds of each, by round. The first round is not counted."""
    rounds: dict[str, list[float]] = {name: [] for name in runs}
    end = time.perf_counter() + SECONDS
    for number in _rounds(end):
        for name, prepare in runs.items():
            taken = _milliseconds(prepare(_copies(args), _copies(shadows)))
            if number:
                rounds[name].append(taken)
    return rounds


def _rounds(end: float) -> Iterator[int]:
    number = 0
    while number <= FEWEST or time.perf_counter() < end:
        yield number
        number += 1


def _milliseconds(run: Run) -> float:
    start = time.perf_counter()
    run()
    return 1e3 * (time.perf_counter() - start)


def _copies(args: Arguments) -> Arguments:
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in args.items()}


def _named(name: str) -> HostCase | HostKernel:
    (case,) = [case for case in (*KERNEL_CASES, *CASES) if case.name == name]
    return case


def measured(case: HostCase | HostKernel, folder: Path, threads: int) -> Figure:
    """In a process of its own, which has that many threads."""
    argv = [sys.executable, "-m", "benchmarks.openmp", str(folder), "--one", str(threads), case.name]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    return Figure(**json.loads(done.stdout))


def teams(case: HostCase | HostKernel) -> list[int]:
    """Programs without parallel regions are measured with one thread."""
    parallel = isinstance(case, HostKernel) or len(case.at_most) > 1
    return [threads for threads in TEAMS if threads == 1 or (parallel and threads <= (os.cpu_count() or 1))]


def as_rows(figures: Sequence[Figure]) -> list[Row]:
    """With the gradient's parallel efficiency over the primal's, where a case was measured with one thread first."""
    alone = {figure.case: figure.ratio for figure in figures if figure.threads == 1}
    rows = [{key: value for key, value in asdict(figure).items() if value is not None} for figure in figures]
    for row in rows:
        if row["threads"] > 1 and row["case"] in alone:
            row["efficiency"] = round(alone[row["case"]] / row["ratio"], 2)
    return rows


@click.command(help=(__doc__ or "").splitlines()[0])
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.argument("names", nargs=-1, metavar="[CASE]...")
@click.option("--output", type=click.Path(path_type=Path), help="Where the figures go.")
@click.option("--one", type=int, hidden=True, help="One case with that many threads, in this process.")
def main(folder: Path, names: tuple[str, ...], output: Path | None, one: int | None) -> None:
    if one is not None:
        click.echo(json.dumps(asdict(measure(_named(names[0]), folder, one))))
        return
    known = json.loads(output.read_text("utf-8")) if names and output and output.exists() else []
    figures: list[Figure] = []
    for case in map(_named, names) if names else (*KERNEL_CASES, *CASES):
        for threads in teams(case):
            figures.append(measured(case, folder, threads))
            click.echo(str(figures[-1]))
            if output:
                rows = merged(known, as_rows(figures), "case")
                output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
