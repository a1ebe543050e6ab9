"""Sums over lanes of products, as in the gradient of a small network in each thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver import pipelines
from enzyme_driver.pipelines.form import Pipeline
from enzyme_driver.runtime.backends.teams import threads
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.targets import openmp

SOURCE = Path(__file__).with_name("products.cu")
WEIGHTS = {"leaves_early": 133, "in_double": 100, "several": 3 * 90, "twice": 143, "wide": 38 * 35}

Launch = tuple[Any, ...]
CASES: Mapping[str, tuple[Launch, ...]] = {
    "leaves_early": ((3, 96, 250), (2, 50, 77), (1, 31, 31)),
    "in_double": ((3, (11, 7)), (1, (64, 6)), (1, (128, 3))),
    "several": ((2, 64, 3, 1024), (2, 64, 3, 32), (1, 96, 3, 5), (1, 40, 2, 1024)),
    "twice": ((2, 64, 3), (1, 33, 2)),
    "wide": ((2, 64), (1, 40)),
}
"""The grid, the block, and further arguments."""
LAUNCHES = [(name, launch) for name, launches in CASES.items() for launch in launches]


def arguments(name: str, launch: Launch) -> tuple[Any, ...]:
    rng = np.random.default_rng(5)
    dtype = np.float64 if name == "in_double" else np.float32
    points = launch[0] * int(np.prod(launch[1]))
    arrays = rng.normal(0, 0.5, WEIGHTS[name]), rng.uniform(-0.9, 0.9, points), np.zeros(points)
    return (*(each.astype(dtype) for each in arrays), *launch[2:])


def with_products(whole: Pipeline) -> Pipeline:
    """On the host, too."""
    parts = tuple(
        with_products(part)
        if isinstance(part, Pipeline)
        else replace(part, when=None)
        if part.turned_off_by == "sum-products"
        else part
        for part in whole.parts
    )
    return replace(whole, parts=parts)


@pytest.fixture(scope="module")
def as_on_gpu(toolchain: object) -> Any:  # noqa: ANN401
    """Compiled for the host with the pass that only the GPU gets; its memory of a block is one global there."""
    del toolchain
    with pytest.MonkeyPatch.context() as patch:
        host = with_products(pipelines.HOST_FROM_CUDA)
        patch.setattr(openmp, "_PIPELINES", {**openmp._PIPELINES, "cuda": (host, pipelines.THREADS)})
        patch.setenv("ADGEN_DISABLE", "barrier-loop-fission")
        return adgen.compile(SOURCE, cache=False)


@pytest.mark.parametrize(("name", "launch"), LAUNCHES)
def test_lanes_sum_products(as_on_gpu: adgen.Module, name: str, launch: Launch) -> None:
    kernel = as_on_gpu[name]
    assert isinstance(kernel, Kernel)
    with threads(1):
        kernel.check[launch[:2]](*arguments(name, launch), tolerance=2e-3 if name != "in_double" else None)
