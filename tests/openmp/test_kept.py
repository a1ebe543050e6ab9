"""Loops that keep the best numbers in lists: what is kept at their end alone is reversed, and the gradient is right."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openmp.compile_support import compiled_without, kernel

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

HERE = Path(__file__).parent
SWITCH = "rematerialize-selections"
COUNT, CANDIDATES, MOST = 7, 40, 4
LISTS = {"inserted1": 1, "inserted5": 5, "inserted32": 32, "replaced": 6, "swapped": 4}
KERNELS = ("inserted1", "inserted5", "replaced", "swapped", "layers", "strided", "tiles", "mixed", "summed", "relaxed")
FUNCTIONS = ("nearest", "structs", "parallel")


def arguments(name: str, random: np.random.Generator, candidates: int = CANDIDATES) -> tuple[Any, ...]:
    """In the order of the kernel's parameters, outputs included."""

    def draw(*shape: int, least: float = -1.0, most: float = 1.0) -> np.ndarray[Any, np.dtype[np.float64]]:
        return random.uniform(least, most, shape)

    kept, rows = LISTS.get(name, MOST), max(candidates, 1)
    y, which = np.zeros((COUNT, kept)), np.zeros((COUNT, kept), np.int32)
    points = (COUNT, candidates, draw(COUNT, 3), draw(rows, 3), y)
    if name in LISTS:
        return points if name == "swapped" else (*points, which)
    discs = draw(rows, 4, least=0.2) * [1, 1, 1, 0.8] - [0, 0, 0.3, 0]
    return {
        "layers": (COUNT, candidates, MOST, draw(COUNT, 2, least=0.3), discs, y[:, 0].copy(), which),
        "strided": (candidates, 3, draw(3, rows), draw(3, 2), np.zeros((3, 32))),
        "tiles": (candidates, draw(64), draw(rows), np.zeros(64)),
        "mixed": (COUNT, candidates, 3, draw(COUNT), draw(rows), y[:, 0].copy()),
        "summed": (COUNT, candidates, draw(COUNT), draw(rows), y[:, 0].copy()),
        "relaxed": (COUNT, candidates, draw(COUNT, rows, least=0), y[:, 0].copy()),
    }[name]


@pytest.fixture(scope="module")
def kernels() -> Module:
    return adgen.compile(HERE / "kept.cu")


@pytest.fixture(scope="module")
def plain() -> Module:
    """All iterations are reversed."""
    return compiled_without(SWITCH, HERE / "kept.cu")


@pytest.fixture(scope="module")
def long() -> Module:
    return adgen.compile(HERE / "kept_long.cu")


@pytest.fixture(scope="module")
def functions() -> Module:
    return adgen.compile(HERE / "kept.cpp")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_checked_against_differences_and_the_witness(kernels: Module, name: str) -> None:
    seed = secrets.randbits(31)
    result = kernel(kernels, name).check[2, 32](*arguments(name, np.random.default_rng(seed)), seed=seed)
    assert any(parameter.difference for parameter in result.parameters)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("candidates", [0, 1, 3, CANDIDATES])
def test_nothing_changes_but_the_time(kernels: Module, plain: Module, name: str, candidates: int) -> None:
    _compare(kernels, plain, name, arguments(name, np.random.default_rng(secrets.randbits(31)), candidates))


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", KERNELS)
def test_ties_are_decided_alike(kernels: Module, plain: Module, name: str) -> None:
    given = arguments(name, np.random.default_rng(secrets.randbits(31)))
    _compare(kernels, plain, name, _rounded(given))


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("candidates", [20, 60])
def test_a_long_list_is_checked(long: Module, candidates: int) -> None:
    seed = secrets.randbits(31)
    given = arguments("inserted32", np.random.default_rng(seed), candidates)
    result = kernel(long, "inserted32").check[2, 32](*given, seed=seed)
    assert any(parameter.difference for parameter in result.parameters)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_checked(functions: Module, name: str) -> None:
    seed = secrets.randbits(31)
    random = np.random.default_rng(seed)
    points, others = random.uniform(-1, 1, COUNT), random.uniform(-1, 1, 3 * CANDIDATES)
    given = {
        "nearest": (CANDIDATES, points, others),
        "structs": (CANDIDATES, 5, points, others),
        "parallel": (COUNT, CANDIDATES, points, others, np.zeros(COUNT)),
    }[name]
    found = functions[name]
    assert isinstance(found, adgen.Function)
    result = found.check(*given, seed=seed)
    assert any(parameter.difference for parameter in result.parameters)


def _rounded(given: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.round(each * 4) / 4 if getattr(each, "dtype", None) == np.float64 else each for each in given)


def _compare(mine: Module, every: Module, name: str, given: tuple[Any, ...]) -> None:
    random = np.random.default_rng(secrets.randbits(31))
    y = next(each for each in reversed(given) if isinstance(each, np.ndarray) and each.dtype == np.float64)
    cotangents = {"y": random.standard_normal(y.shape)}
    found, wanted = (kernel(each, name).vjp[2, 32](*given, cotangents=cotangents) for each in (mine, every))
    assert found.keys() == wanted.keys()
    for parameter, number in found.items():
        np.testing.assert_allclose(number, wanted[parameter], rtol=1e-12, atol=1e-13)
