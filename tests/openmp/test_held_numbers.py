"""Numbers that regions read: none is taken for a constant that holds something with a derivative by then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.backends.teams import threads
from enzyme_driver.runtime.module import Module

FILE = Path(__file__).with_name("held_numbers.cpp")
SIZE = 13


def some(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(0.5, 1.5, SIZE)


def fields(rng: np.random.Generator) -> dict[str, Any]:
    arrays = {name: some(rng) for name in ("rho", "vel", "gamma")}
    return {**arrays, "out": [some(rng), some(rng)], "n": SIZE, "dt": 0.1, "inner": {"cfl": 0.3, "flag": 1}}


MORE: dict[str, tuple[Any, ...]] = {
    "alias": ({"a": 0.3, "b": 0.4, "f": 0.5, "n": 3},),
    "bits": (0.3,),
    "updated": (0.3, 3),
    "single_set": (0.3,),
    "member": (0.3, 3),
    "objects": (0.3, 4),
    "lambdas": (0.3,),
    "complexes": (0.3,),
    "unions": (0.3,),
    "privates": (0.3,),
    "chosen": (0.3, 1),
    "heap": (0.3,),
    "fit": (5, 0.1, 3),
    "global": (0.3,),
}
"""What follows an array and its size."""
NUMBERS = {"alias": "p", "fit": "rate"}


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE)


@pytest.mark.parametrize("name", MORE)
@pytest.mark.parametrize("team", [1, 2, 7])
def test_gradients(module: Module, name: str, team: int) -> None:
    with threads(team):
        module[name].check(some(np.random.default_rng(team)), SIZE, *MORE[name], seed=team)


@pytest.mark.parametrize("name", MORE)
def test_gradients_by_the_number_too(name: str) -> None:
    function = adgen.compile(FILE, function=name, activity={NUMBERS.get(name, "c"): "active"})
    with threads(3):
        function.check(some(np.random.default_rng(5)), SIZE, *MORE[name])


@pytest.mark.parametrize("team", [1, 2, 7])
def test_a_struct_of_arrays_that_change_places(module: Module, team: int) -> None:
    with threads(team):
        module["euler"].check(fields(np.random.default_rng(team)), 3)
