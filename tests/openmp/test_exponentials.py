"""Exponentials that gradients of C++ compute in place are as exact as documented, and special where they should be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver import processor
from enzyme_driver.runtime.module import Module

FILE = Path(__file__).with_name("exponentials.cpp")


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE)


def slopes(module: Module, name: str, x: np.ndarray) -> np.ndarray:
    shadow = np.zeros_like(x)
    module[name].gradient(x, len(x), shadows={"x": shadow})
    return shadow


@pytest.mark.parametrize("bounds", [(-0.4, 0.4), (-700, 700), (-745, -700), (700, 709.78)])
@pytest.mark.skipif(not processor.fuses(), reason="they are the C library's there")
def test_they_are_exact(module: Module, bounds: tuple[float, float]) -> None:
    x = np.random.default_rng(1).uniform(*bounds, 10_001)
    exact = np.exp(x.astype(np.longdouble))
    found = slopes(module, "total", x)
    last_place = np.spacing(exact.astype(np.float64)).astype(np.longdouble)
    assert np.max(np.abs(found - exact) / last_place) < 0.8


@pytest.mark.parametrize("count", [1, 3, 4, 9])
def test_special_numbers(module: Module, count: int) -> None:
    for number in (0.0, -0.0, np.inf, -np.inf, np.nan, 709.782712893384, 709.7827128933841, 1e300, -745.13, -745.2):
        x = np.full(count, number)
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(slopes(module, "total", x), np.exp(x), rtol=3e-16)


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_in_parallel_regions(module: Module, n: int) -> None:
    x = np.random.default_rng(n).uniform(-30, 3, n)
    expected = np.exp(x - x.max())
    np.testing.assert_allclose(slopes(module, "log_sum", x), expected / expected.sum(), rtol=1e-14)
