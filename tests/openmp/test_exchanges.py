"""Values that threads hand on through restricted arrays: a store before a barrier is there behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

THREADS, BLOCKS = 32, 3
POINTS = THREADS * BLOCKS


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(Path(__file__).with_name("exchanges.cu"))


def arguments(name: str, x: np.ndarray) -> list[Any]:
    return [x, *(np.zeros(POINTS) for _ in range(2 if name == "two_arrays" else 1)), POINTS]


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", ["shifted", "called", "two_arrays"])
def test_neighbours_see_what_was_stored_before_the_barrier(module: Module, name: str) -> None:
    rng = np.random.default_rng()
    x, weights = rng.normal(size=POINTS), rng.normal(size=POINTS)
    values = arguments(name, x)
    kernel = getattr(module, name)[BLOCKS, THREADS]
    kernel(*values)
    squares = (x * x).reshape(BLOCKS, THREADS)
    expected = squares.copy()
    expected[:, 1:] = 0.25 * squares[:, 1:] + squares[:, :-1]
    np.testing.assert_allclose(np.asarray(values[1]), expected.ravel(), rtol=1e-14)

    found = getattr(module, name).vjp[BLOCKS, THREADS](*arguments(name, x), cotangents={"y": weights})
    ybar = weights.reshape(BLOCKS, THREADS)
    of_squares = 0.25 * ybar
    of_squares[:, 0] = ybar[:, 0]
    of_squares[:, :-1] += ybar[:, 1:]
    np.testing.assert_allclose(found["x"], 2 * x * of_squares.ravel(), rtol=1e-13, atol=1e-14)
