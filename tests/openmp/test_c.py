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


def test_static_function(toolchain: object) -> None:
    del toolchain
    cube = adgen.compile(SOURCE, function="helped", activity={"v": "active"})
    assert isinstance(cube, adgen.Function)
    assert np.allclose(cube.vjp(1.5)["v"], 6.75)
