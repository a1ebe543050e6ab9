"""In C++ iterations are reversed right after they were computed: the gradient is what it is without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openmp.compile_support import compiled_without

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

FILE = Path(__file__).with_name("fused.cpp")


def _projected(rng: np.random.Generator) -> tuple[Any, ...]:
    axes = rng.standard_normal((6, 3))
    axes[2] = 0
    return axes, rng.standard_normal((40, 3)), rng.integers(0, 6, 40).astype(np.int32), 40, np.zeros((40, 2))


CASES: dict[str, Callable[[np.random.Generator], tuple[Any, ...]]] = {
    "projected": _projected,
    "twice": lambda rng: (rng.standard_normal(50), 50, np.zeros(51)),
    "chained": lambda rng: (rng.standard_normal(50), 50, np.zeros(50)),
    "robust": lambda rng: (2 * rng.standard_normal(50), rng.standard_normal(50), 50, np.zeros(1)),
}


@pytest.fixture(scope="module")
def fused() -> Module:
    module = adgen.compile(FILE, verify="never")
    assert isinstance(module, Module)
    return module


@pytest.fixture(scope="module")
def apart() -> Module:
    return compiled_without("fuse-sweeps", FILE)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_sweeps_apart(fused: Module, apart: Module, name: str) -> None:
    function = fused[name]
    args = CASES[name](np.random.default_rng(1))
    function.check(*args)
    found = []
    for module in (fused, apart):
        arrays = dict(zip(function.signature.names, args, strict=True))
        floats = {n: v for n, v in arrays.items() if isinstance(v, np.ndarray) and v.dtype == np.float64}
        rng = np.random.default_rng(2)
        shadows = {n: rng.standard_normal(v.shape) for n, v in floats.items()}
        module[name].gradient(*args, shadows=shadows)
        found.append(shadows)
    for of, shadow in found[0].items():
        np.testing.assert_allclose(shadow, found[1][of], rtol=1e-12, atol=1e-13)
