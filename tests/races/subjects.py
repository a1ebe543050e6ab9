"""What is looked at for races: all programs, kernels of the collection and C++ benchmarks, on small arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from programs.program import Program
from programs.soundness import check
from programs.table import PROGRAMS

from benchmarks.host_cases import CASES as BENCHMARKS
from benchmarks.host_cases import FOLDER, HostCase
from cuda_kernels.case import Case
from cuda_kernels.check import run_case
from cuda_kernels.places import Host
from cuda_kernels.suite import CASES

Compiled = Any  # a Kernel or a Function


@dataclass(frozen=True)
class Subject:
    """An entry of a file. `run` calls the loaded primal and its gradient on arguments of that seed."""

    name: str
    path: Path
    entry: str
    activity: Mapping[str, str]
    run: Callable[[Compiled, int], object]


def _run_program(program: Program, compiled: Compiled, seed: int) -> None:
    check(compiled, program, program.make(np.random.default_rng(seed)), seed)


def _run_case(case: Case, compiled: Compiled, seed: int) -> None:
    run_case(compiled, case, Host(), seed)


def _run_benchmark(case: HostCase, compiled: Compiled, seed: int) -> None:
    compiled.check(*case.small(np.random.default_rng(seed)).values(), seed=seed, tolerance=1.0)


def _run_racy(compiled: Compiled, seed: int) -> None:
    compiled(np.random.default_rng(seed).uniform(1, 2, 50), 50)


def _run_steps(compiled: Compiled, seed: int) -> None:
    start, kappa = np.random.default_rng(seed).uniform(0, 0.2, (2, 7, 40))
    compiled.check(start, kappa, 40, 7, 4, seed=seed, tolerance=1.0)


RACY = Subject("racy", Path(__file__).with_name("racy.cpp"), "racy", {}, _run_racy)
"""What must be found."""


def subjects() -> dict[str, Subject]:
    """All by name."""
    found = [
        *(
            Subject(p.name, p.path, p.entry, p.activity, partial(_run_program, p))
            for p in PROGRAMS
            if not p.refused and not p.broken
        ),
        *(Subject(f"kernel-{c.name}", c.path, c.kernel, c.activity, partial(_run_case, c)) for c in CASES),
        *(
            Subject(f"benchmark-{c.function}", FOLDER / c.file, c.function, c.activity, partial(_run_benchmark, c))
            for c in BENCHMARKS
        ),
    ]
    stencils = Path(__file__).parents[1] / "openmp" / "stencils.cpp"
    found += [Subject(f"stencils-{name}", stencils, name, {}, _run_steps) for name in ("membrane", "grids")]
    return {subject.name: subject for subject in found}
