"""What has a pole and is dropped there, in two results at once, leaves gradients that are numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.kernel import Kernel

N = 16
Numbers: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]

HARMONIC, HARMONIC_SQUARE = sum(1 / k for k in (1, 2, 3)), sum(1 / k**2 for k in (1, 2, 3))
WANTED: Mapping[str, tuple[Callable[[Numbers], Numbers], Callable[[Numbers], Numbers], float, float]] = {
    "two_results": (lambda v: -3 / v**2, lambda v: 1 - 2 / v**3, 0, 0),
    "direction": (lambda v: 0.5 * v**-0.5, lambda v: -(v**-1.5), 0, 0),
    "three_results": (lambda v: 1 / v - 2 / v**3, lambda v: 2 * np.log(v) / v - 1 / v**2, 3, 1),
    "one_after_the_other": (lambda v: -3 / v**2, lambda v: -9 / v**4, 0, 0),
    "in_a_loop": (lambda v: -HARMONIC / v**2, lambda v: -2 * HARMONIC_SQUARE / v**3, 6, 0),
}
"""The derivatives of both results, and what they are where the argument is zero."""


@pytest.fixture(scope="module")
def module(toolchain: object) -> adgen.Module:
    del toolchain
    return adgen.compile(Path(__file__).with_name("dropped.cu"))


@pytest.mark.parametrize("name", WANTED)
def test_gradient(module: adgen.Module, name: str) -> None:
    random = np.random.default_rng(3)
    x, y, z = (random.uniform(0.5, 3, N) for _ in range(3))
    x[::3] = 0
    of_y, of_z, y_at_zero, z_at_zero = WANTED[name]
    kernel = module[name]
    assert isinstance(kernel, Kernel)
    found = kernel.vjp[2, 8](x, np.zeros(N), np.zeros(N), N, cotangents={"y": y, "z": z}, wrt="x")["x"]
    expected = y * y_at_zero + z * z_at_zero
    away = x > 0
    expected[away] = y[away] * of_y(x[away]) + z[away] * of_z(x[away])
    assert found == pytest.approx(expected, rel=1e-12)
