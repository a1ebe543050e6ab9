"""Files in C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openmp.compile_support import function

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

SOURCE = Path(__file__).with_name("plain.c")
N = 5


@pytest.fixture(scope="module")
def plain(toolchain: object) -> Module:
    del toolchain
    return adgen.compile(SOURCE)


@pytest.mark.parametrize("name", ["listed", "product", "solved"])
def test_functions(plain: Module, name: str) -> None:
    rng = np.random.default_rng(5)
    square = rng.standard_normal((N, N))
    arguments: dict[str, tuple[Any, ...]] = {
        "listed": (rng.standard_normal(N), N),
        "product": (N, square, rng.standard_normal(N), np.zeros(N)),
        "solved": (square + 4 * np.eye(N), rng.standard_normal(N), np.array([N], np.int32)),
    }
    assert function(plain, name).check(*arguments[name]).passed


def test_complex_functions(plain: Module) -> None:
    z = np.array([0.7 + 0.4j, -0.6 + 1.1j, -1.2 - 0.3j, 0.2 - 0.9j, 400 + 0.8j])
    found = np.zeros((len(z), 10), complex)
    complexes = function(plain, "complexes")
    with np.errstate(all="ignore"):
        expected = [np.exp(z), np.log(z), np.sqrt(z), z ** (z + 1), np.sin(z), np.cos(z)]
        expected += [np.tan(z), np.sinh(z), np.cosh(z), np.tanh(z)]
    complexes(z[:-1].view(np.float64), found[:-1].view(np.float64).ravel(), np.zeros(4), 4)
    np.testing.assert_allclose(found[:-1], np.transpose(expected)[:-1], rtol=1e-13)
    complexes(z[-1:].view(np.float64), found[-1:].view(np.float64).ravel(), np.zeros(1), 1)
    np.testing.assert_allclose(found[-1, [1, 2, 5, 6, 9]], np.array(expected)[[1, 2, 5, 6, 9], -1], rtol=1e-13)
    assert complexes.check(z[:-1].view(np.float64), np.zeros(80), np.zeros(4), 4).passed


def test_static_function(toolchain: object) -> None:
    del toolchain
    cube = adgen.compile(SOURCE, function="helped", activity={"v": "active"})
    assert isinstance(cube, adgen.Function)
    assert np.allclose(cube.vjp(1.5)["v"], 6.75)
