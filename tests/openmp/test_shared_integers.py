"""Shared memory that holds integers at one time: what they are written over has no tangent and no cotangent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.kernel import Kernel

SOURCE = Path(__file__).parents[1] / "constructs" / "shared.cu"
BLOCKS, THREADS = 2, 32


@pytest.fixture(scope="module")
def module(toolchain: object) -> adgen.Module:
    del toolchain
    return adgen.compile(SOURCE, modes=("forward",))


@pytest.mark.parametrize(
    "name", ["integers_then_numbers", "in_turns", "cleared_as_integers", "cleared_as_vectors", "two_kinds_of_numbers"]
)
def test_both_modes_agree(module: adgen.Module, name: str) -> None:
    kernel = module[name]
    assert isinstance(kernel, Kernel)
    random = np.random.default_rng(len(name))
    count = BLOCKS * THREADS
    kind = np.float64 if name == "two_kinds_of_numbers" else np.float32
    x, along, against = (random.uniform(0.5, 1.5, count).astype(each) for each in (kind, kind, np.float32))
    k, y = random.integers(0, THREADS, count).astype(np.int32), np.zeros(count, np.float32)
    args = (x, y, count) if "k" not in kernel.signature.names else (x, k, y, count)
    tangent = kernel.jvp[BLOCKS, THREADS](*args, tangents={"x": along})["y"]
    cotangent = kernel.vjp[BLOCKS, THREADS](*args, cotangents={"y": against}, wrt=("x",))["x"]
    assert np.dot(against.astype(float), tangent) == pytest.approx(np.dot(along.astype(float), cotangent), rel=1e-5)
