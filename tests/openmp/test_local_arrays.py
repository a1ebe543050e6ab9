"""Local arrays in parallel loops: the reverse sweep of a region must not read them before they are filled."""

from __future__ import annotations

import secrets
from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

FILE = Path(__file__).with_name("local_arrays.cpp")
FUNCTIONS = (
    "sum_of_products",
    "product",
    "largest",
    "place_of_the_largest",
    "until_enough",
    "counts",
    "decides",
    "in_place",
    "array_in_a_loop",
    "vectors_in_a_loop",
    "sorted_after_ranks",
)
_POINTS = 6


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient(module: Module, name: str) -> None:
    seed = secrets.randbits(31)
    x = np.random.default_rng(seed).uniform(0.7, 1.2, (_POINTS, 8))
    result = module[name].check(x, np.zeros(_POINTS), _POINTS, seed=seed)
    assert abs(result.parameters[0].difference) > 0
