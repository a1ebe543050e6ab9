"""Runs of a kernel with the arguments that tests draw: the same in every run, before each launch as they were drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np
from programs.program import Program
from programs.soundness import with_arrays

import enzyme_driver as adgen
from benchmarks.case import Args, Runs
from cuda_kernels import case as collection
from cuda_kernels.check import problem
from cuda_kernels.places import DeviceStructs, Gpu
from enzyme_driver.runtime.call.geometry import launch_of
from enzyme_driver.runtime.transforms.check_case import kernel_case, on_host
from enzyme_driver.runtime.transforms.check_numbers import random_like

SEED = 1

Refill = Callable[[], None]


def of_collection(case: collection.Case, artifact: Path) -> tuple[Runs, Refill]:
    given = problem(case, SEED).args.items()
    args = {n: {**v.values, **v.arrays} if isinstance(v, collection.Pointers) else v for n, v in given}
    return runs(_only(artifact), args, case.launch)


def of_program(program: Program, artifact: Path) -> tuple[Runs, Refill]:
    return runs(_only(artifact), program.make(np.random.default_rng(SEED)), program.launch)


def _only(artifact: Path) -> Any:  # noqa: ANN401  (an adgen.Kernel)
    (kernel,) = adgen.load(artifact, target="cuda")
    return kernel


def runs(kernel: Any, args: Args, where: tuple[Any, ...]) -> tuple[Runs, Refill]:  # noqa: ANN401
    """The primal and the gradient, with random cotangents, and what gives all arrays their values again."""
    gpu, rng = Gpu(), np.random.default_rng(SEED)
    placed = tuple(with_arrays(value, gpu.put) for value in args.values())
    case = kernel_case(kernel, placed, launch_of(where))
    parts = {
        part.name: gpu.put(np.atleast_1d(random_like(on_host(case, part), rng, uniform=bool(part.unordered))))
        for part in case.shadowed
        if part.form != "variable"
    }
    shadows = case.whole(parts)
    kept = [(memory, memory.copy()) for value in (*case.values, *parts.values()) for memory in memories(value)]

    def refill() -> None:
        for memory, before in kept:
            cp.copyto(memory, before)

    timed = {
        "primal": lambda: kernel[where](*case.values),
        "gradient": lambda: kernel.gradient[where](*case.values, shadows=shadows),
    }
    return timed, refill


def memories(value: object) -> Iterator[Any]:
    """The CuPy arrays of an argument."""
    if isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from memories(part)
    elif isinstance(value, DeviceStructs):
        yield value.memory
    elif isinstance(value, cp.ndarray):
        yield value
