"""Arrays that change places from step to step: regions read them again where they have been put back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver import pipeline, request
from enzyme_driver.runtime.backends.teams import threads
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.module import Module
from enzyme_driver.settings import Settings

FILE = Path(__file__).with_name("exchanged.cpp")
ARRAYS = {
    "swapped": 2,
    "sometimes": 2,
    "round": 1,
    "inside": 2,
    "fresh": 1,
    "buffers": 1,
    "nested": 3,
    "either": 2,
    "copied": 2,
}
READ_AGAIN = ("swapped", "sometimes", "round", "fresh", "nested")


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE)


def arguments(name: str, rng: np.random.Generator) -> tuple[Any, ...]:
    n = int(rng.integers(12, 60))
    arrays = [rng.uniform(0.5, 1, n) for _ in range(ARRAYS[name])]
    return (*arrays, n, int(rng.integers(1, 7)), 0.1)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("team", [1, 2, 7])
def test_gradients_of_arrays_that_change_places(module: Module, name: str, team: int) -> None:
    rng = np.random.default_rng(7 * team)
    with threads(team):
        for seed in range(4):
            module[name].check(*arguments(name, rng), seed=seed)


@pytest.mark.parametrize("name", [name for name, count in ARRAYS.items() if count > 1])
def test_the_primal_of_a_gradient_leaves_what_the_primal_does(module: Module, name: str) -> None:
    function = module[name]
    assert isinstance(function, Function)
    args = arguments(name, np.random.default_rng(8))
    alone, beside = ([x.copy() if isinstance(x, np.ndarray) else x for x in args] for _ in range(2))
    function(*alone)
    names = [parameter.name for parameter in function.signature.shadowed]
    function.gradient(*beside, shadows={name: np.ones_like(args[0]) for name in names})
    for one, other in zip(alone, beside, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", READ_AGAIN)
def test_they_are_read_again(name: str) -> None:
    text = pipeline.emit(request.new(FILE, names=[name]), "prepared", settings=Settings.from_environment())
    assert "!adgen.restored" in text
