"""What mathematics has given is kept for the reverse sweep of a loop: the gradient is what it is without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openmp.compile_support import compiled_without

import enzyme_driver as adgen
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.module import Module

FILE = Path(__file__).with_name("kept_results.cpp")
MOST = 2**23
"""So many doubles are kept, and no more."""


def _numbers(n: int) -> tuple[Any, ...]:
    return np.random.default_rng(1).uniform(-1, 1, n), n


def _rows(counts: tuple[int, ...]) -> tuple[Any, ...]:
    begin = np.cumsum((0, *counts)).astype(np.int32)
    return np.random.default_rng(2).uniform(-1, 1, begin[-1]).astype(np.float32), begin, len(counts)


def _pairs(n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(3)
    return rng.uniform(0.5, 1.5, n), rng.uniform(-1, 2, n), n


def _batches(count: int, n: int) -> tuple[Any, ...]:
    return np.random.default_rng(5).uniform(-1, 1, count * n), np.zeros(count), count, n


def _turned(low: float, high: float, n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(6)
    return rng.uniform(low, high, n), rng.standard_normal((n, 2)), np.zeros((n, 2)), n


CASES = (
    *(("partition", _numbers(n)) for n in (1, 2, 1000)),
    *(("rows", _rows(counts)) for counts in ((5,), (3, 0, 700, 0, 0, 2, 90), (0, 0))),
    *(("batches", _batches(*extents)) for extents in ((1, 1), (9, 40))),
    *(("decay", _numbers(n)) for n in (1, 9)),
    *(("powers", _pairs(n)) for n in (1, 8)),
    *(("some", _numbers(n)) for n in (1, 50)),
    *(("turned", _turned(*extents)) for extents in ((-2, -1, 5), (1, 2, 5), (-2, 2, 40))),
)


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE)


@pytest.fixture(scope="module")
def without() -> Module:
    return compiled_without("cache-math-calls", FILE)


def gradients(function: Kernel | Function, args: tuple[Any, ...]) -> list[np.ndarray]:
    assert isinstance(function, Function)
    own = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    by_name = dict(zip((p.name for p in function.signature), own, strict=True))
    shadows = {p.name: np.ones_like(by_name[p.name]) for p in function.signature if p.activity == "duplicated"}
    function.gradient(*own, shadows=shadows)
    return list(shadows.values())


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize(("name", "args"), CASES)
def test_the_same_as_computed_again(module: Module, without: Module, name: str, args: tuple[Any, ...]) -> None:
    ours, again = gradients(module[name], args), gradients(without[name], args)
    for mine, other in zip(ours, again, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6 if mine.dtype == np.float32 else 1e-14)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", ["partition", "rows", "batches", "decay", "powers", "some", "turned"])
def test_against_differences(module: Module, name: str) -> None:
    args = dict(CASES[::-1])[name]
    module[name].check(*args, seed=4)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("n", [MOST, MOST + 1])
def test_what_does_not_fit_is_computed_again(module: Module, n: int) -> None:
    x, _ = _numbers(n)
    (found,) = gradients(module["partition"], (x, n))
    weights = np.exp(-x)
    np.testing.assert_allclose(found, 1 - weights / weights.sum(), rtol=1e-9)
