"""Loops that select a number among their iterations': the winner alone is reversed, and the gradient is right."""

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
COUNT, CANDIDATES = 7, 40
SELECTED = ("nearest", "segments", "hit", "reduced", "pooled", "repeated", "tiled")
KEPT = ("dependent", "overwriting")
FUNCTIONS = ("nearest", "clusters", "extremes")


def arguments(name: str, random: np.random.Generator, candidates: int = CANDIDATES) -> tuple[Any, ...]:
    """In the order of the kernel's parameters, outputs included."""

    def draw(*shape: int, least: float = -1.0, most: float = 1.0) -> np.ndarray[Any, np.dtype[np.float64]]:
        return random.uniform(least, most, shape)

    y = np.zeros(COUNT)
    points = (draw(COUNT, 3), draw(candidates, 3))
    return {
        "nearest": (COUNT, candidates, *points, draw(candidates), y, np.zeros(COUNT, np.int32)),
        "segments": (COUNT, candidates, 2 * draw(COUNT, 2), draw(candidates, 4), y),
        "hit": (COUNT, candidates, draw(COUNT, 2, least=0.5), draw(candidates, 3, least=0.5, most=3) * [1, 1, 0.6], y),
        "reduced": (COUNT, candidates, draw(COUNT, max(candidates, 1)), y),
        "pooled": (9, 12, 3, draw(9, 12), np.zeros(12)),
        "repeated": (COUNT, candidates, draw(COUNT), draw(candidates), y),
        "tiled": (96, draw(64), draw(96), np.zeros(64)),
        "dependent": (COUNT, candidates, draw(COUNT, max(candidates, 1), least=0.2, most=1.2), y),
        "overwriting": (COUNT, candidates, draw(COUNT, max(candidates, 1), least=0.2, most=1.2), y),
    }[name]


def function_arguments(name: str, random: np.random.Generator) -> tuple[Any, ...]:
    points, others = random.uniform(-1, 1, (COUNT, 3)), random.uniform(-1, 1, (CANDIDATES, 3))
    return {
        "nearest": (CANDIDATES, points[0].copy(), others),
        "clusters": (COUNT, CANDIDATES, points, others, np.zeros(COUNT)),
        "extremes": (CANDIDATES, others[:, 0].copy(), np.zeros(2)),
    }[name]


@pytest.fixture(scope="module")
def kernels() -> Module:
    return adgen.compile(HERE / "selections.cu")


@pytest.fixture(scope="module")
def plain() -> Module:
    """All iterations are reversed."""
    return compiled_without(SWITCH, HERE / "selections.cu")


@pytest.fixture(scope="module")
def functions() -> Module:
    return adgen.compile(HERE / "selections.cpp")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", [*SELECTED, *KEPT])
def test_a_kernel_is_checked_against_differences_and_the_witness(kernels: Module, name: str) -> None:
    seed = secrets.randbits(31)
    result = kernel(kernels, name).check[2, 32](*arguments(name, np.random.default_rng(seed)), seed=seed)
    assert any(parameter.difference for parameter in result.parameters)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", SELECTED)
@pytest.mark.parametrize("candidates", [0, 1, CANDIDATES])
def test_nothing_changes_but_the_time(kernels: Module, plain: Module, name: str, candidates: int) -> None:
    random = np.random.default_rng(secrets.randbits(31))
    given = arguments(name, random, candidates)
    y = next(each for each in reversed(given) if isinstance(each, np.ndarray) and each.dtype == np.float64)
    cotangents = {"y": random.standard_normal(y.shape)}
    mine, every = (kernel(each, name).vjp[2, 32](*given, cotangents=cotangents) for each in (kernels, plain))
    assert mine.keys() == every.keys()
    for parameter, found in mine.items():
        np.testing.assert_allclose(found, every[parameter], rtol=1e-12, atol=1e-14)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_checked(functions: Module, name: str) -> None:
    seed = secrets.randbits(31)
    found = functions[name]
    assert isinstance(found, adgen.Function)
    result = found.check(*function_arguments(name, np.random.default_rng(seed)), seed=seed)
    assert any(parameter.difference for parameter in result.parameters)
