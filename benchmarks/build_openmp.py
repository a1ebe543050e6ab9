"""Compiles what `benchmarks.openmp` measures into a folder, so that it can be measured where no compiler is.

python -m benchmarks.build_openmp FOLDER [case ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from benchmarks.host_cases import CASES, HostCase
from benchmarks.host_kernels import BY_HAND, KERNEL_CASES, HostKernel
from cuda_kernels.case import activity_words
from enzyme_driver import cli, processor
from enzyme_driver.command import run
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import ensure

COMPILER_SECONDS = 120.0


def command(case: HostCase | HostKernel, folder: Path) -> list[str]:
    """The command line of `adgen` for a case."""
    source = ("compile", str(case.path), "-k", case.function, "-t", "openmp")
    return [*source, *activity_words(case.activity), "-o", str(folder / case.name)]


def compile_by_hand(folder: Path) -> bool:
    """For the same machines as adgen's libraries, with the same compiler; whether that could be done."""
    clang = ensure(Settings.from_environment()).clang.path
    flags = ("-O3", f"-march={processor.baseline()}", "-fopenmp", "-shared", "-fPIC", "-x", "c++")
    done = run([str(clang), *flags, str(BY_HAND), "-o", str(folder / "by_hand.so")], timeout=COMPILER_SECONDS)
    click.echo(done.stderr, nl=False, err=True)
    return done.returncode == 0


def build(folder: Path, cases: tuple[HostCase | HostKernel, ...]) -> bool:
    """Whether all of them could be compiled."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = [case for case in cases if cli.run(command(case, folder))]
    return compile_by_hand(folder) and not failed


def main(folder: str, *names: str) -> int:
    cases = tuple(case for case in (*KERNEL_CASES, *CASES) if not names or case.name in names)
    done = build(Path(folder), cases)
    click.echo(f"{len(cases)} programs and kernels in {folder}" if done else "not all were compiled", err=True)
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
