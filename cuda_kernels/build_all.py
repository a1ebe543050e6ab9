"""Compiles every kernel of the collection and every example into a folder, for both targets where possible.

    python -m cuda_kernels.build_all FOLDER [--jobs 2]

What is made there runs on a machine without any compiler: see gpu_check.py.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from cuda_kernels.case import FOLDER, Case, activity_words
from cuda_kernels.suite import CASES

EXAMPLES = FOLDER.parent / "examples"


def case_arguments(case: Case, folder: Path, arch: str) -> list[str]:
    """The command line of `adgen` for a case."""
    built = ["-o", str(folder / "kernels" / case.name)]
    return [
        "compile",
        str(case.path),
        "-k",
        case.kernel,
        "-t",
        "openmp",
        "-t",
        "cuda",
        "--arch",
        arch,
        *activity_words(case.activity),
        *built,
    ]


def example_arguments(source: Path, folder: Path, arch: str) -> list[str]:
    targets = ["-t", "openmp", "-t", "cuda", "--arch", arch] if source.suffix == ".cu" else ["-t", "openmp"]
    return ["compile", str(source), *targets, "-o", str(folder / "examples" / source.stem)]


def examples() -> list[Path]:
    return sorted([*EXAMPLES.glob("*/*.cu"), *EXAMPLES.glob("*/*.cpp")])


def compiles(command: list[str]) -> bool:
    """In a process of its own; what goes wrong is written to stderr."""
    argv = [sys.executable, "-m", "enzyme_driver", *command]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        click.echo(done.stderr, err=True, nl=False)
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--jobs", type=int, default=1, help="compilations at a time")
    options = parser.parse_args()
    commands = {case.name: case_arguments(case, options.folder, options.arch) for case in CASES}
    commands |= {path.stem: example_arguments(path, options.folder, options.arch) for path in examples()}
    with ThreadPoolExecutor(options.jobs) as pool:
        right = pool.map(compiles, commands.values())
        failed = [name for name, is_right in zip(commands, right, strict=True) if not is_right]
    click.echo(f"{len(commands) - len(failed)} of {len(commands)} compiled", err=True)
    for name in failed:
        click.echo(f"not compiled: {name}", err=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
