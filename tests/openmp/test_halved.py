"""Reductions of blocks that halve what is left: their gradients are right, and their flags are kept in registers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import artifact

import enzyme_driver as adgen
from enzyme_driver.runtime.kernel import Kernel

SOURCE = Path(__file__).with_name("halved.cu")
KERNELS = ("to_a_warp", "to_six", "to_one")
BLOCKS, POINTS = 5, 700


@pytest.fixture(scope="module")
def module(toolchain: object) -> adgen.Module:
    del toolchain
    return adgen.compile(SOURCE)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("threads", [1, 32, 48, 100, 256])
def test_gradient(module: adgen.Module, name: str, threads: int) -> None:
    kernel = module[name]
    assert isinstance(kernel, Kernel)
    random = np.random.default_rng(threads)
    p, q, y = random.uniform(-1, 1, BLOCKS), random.uniform(-1, 1, POINTS), np.zeros(BLOCKS)
    kernel.check[BLOCKS, threads](POINTS, p, q, y, np.zeros(BLOCKS, np.int32))


@pytest.mark.usefixtures("toolchain")
def test_nothing_is_kept_in_memory() -> None:
    made = artifact(SOURCE)
    for entry in made.entries:
        gpu = entry.targets["cuda"]
        assert (gpu.gradient_refused, gpu.heap, gpu.tape) == (None, False, None)
