"""The pipelines of passes that opt runs, one for each time it is started: what runs, in which order, and why there.

What each of adgen's own passes does is said in passes/Passes.def and docs/passes.md. A pass that is optional there has
a switch of its name, by which `--disable` leaves it out.
"""

from __future__ import annotations

from enzyme_driver.pipelines.finish import (
    AMDGPU,
    CLEANUP,
    CUDA,
    HOST_FROM_CPP,
    HOST_FROM_CUDA,
    MERGE_SECONDS,
    OPTIMISE,
    SECOND,
    SWEEPS,
    THREADS,
    VERIFY,
)
from enzyme_driver.pipelines.form import Pass, Pipeline, render, rendered, selected
from enzyme_driver.pipelines.prepare import BETWEEN_STEPS, DESCRIBE, PREPARE_CPP, PREPARE_CUDA
from enzyme_driver.pipelines.witness import WITNESS_CODE, WITNESS_CPP, WITNESS_CUDA, WITNESS_HOST, WITNESS_KERNELS

ALL = (
    *(DESCRIBE, PREPARE_CUDA, PREPARE_CPP, BETWEEN_STEPS, VERIFY, SECOND, MERGE_SECONDS, CUDA, HOST_FROM_CUDA),
    *(HOST_FROM_CPP, THREADS, SWEEPS, AMDGPU, OPTIMISE),
    *(WITNESS_CUDA, WITNESS_CPP, WITNESS_HOST, WITNESS_KERNELS, WITNESS_CODE),
)
"""In the order of a compilation."""

__all__ = [
    "ALL",
    "AMDGPU",
    "BETWEEN_STEPS",
    "CLEANUP",
    "CUDA",
    "DESCRIBE",
    "HOST_FROM_CPP",
    "HOST_FROM_CUDA",
    "MERGE_SECONDS",
    "OPTIMISE",
    "PREPARE_CPP",
    "PREPARE_CUDA",
    "SECOND",
    "SWEEPS",
    "THREADS",
    "VERIFY",
    "WITNESS_CODE",
    "WITNESS_CPP",
    "WITNESS_CUDA",
    "WITNESS_HOST",
    "WITNESS_KERNELS",
    "Pass",
    "Pipeline",
    "render",
    "rendered",
    "selected",
]
