"""Maxima by atomics in shared memory: the gradient of each block goes to one thread; tangents are refused by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.errors import RefusedError
from enzyme_driver.runtime.kernel import Kernel

SOURCE = Path(__file__).parents[1] / "constructs" / "extremes.cu"
NAME = "maximum_in_shared_memory"
BLOCKS, THREADS = 3, 32


def compiled(*modes: str) -> Kernel:
    kernel = adgen.compile(SOURCE, kernel=NAME, modes=modes)
    assert isinstance(kernel, Kernel)
    return kernel


@pytest.mark.usefixtures("toolchain")
def test_one_thread_of_several_with_the_same_value_takes_it() -> None:
    x = np.zeros((BLOCKS, THREADS), np.float32)
    x[:, [3, 7, 30]] = 2.0
    x[2] = 0.0  # where the value to begin with remains
    along = np.array([1.5, -2.0, 4.0], np.float32)
    largest = np.zeros(BLOCKS, np.float32)
    found = compiled().vjp[BLOCKS, THREADS](x.ravel(), largest, x.size, cotangents={"largest": along}, wrt=("x",))["x"]
    found = found.reshape(x.shape)
    assert np.count_nonzero(found[:2], axis=1).tolist() == [1, 1]
    assert found[:2, [3, 7, 30]].sum(axis=1).tolist() == along[:2].tolist()


@pytest.mark.usefixtures("toolchain")
def test_tangents_are_refused() -> None:
    kernel = compiled("forward")
    x, largest = np.ones(BLOCKS * THREADS, np.float32), np.zeros(BLOCKS, np.float32)
    with pytest.raises(RefusedError, match="maximum or minimum by atomics in shared memory"):
        kernel.jvp[BLOCKS, THREADS](x, largest, x.size, tangents={"x": x})
