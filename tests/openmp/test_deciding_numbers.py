"""Numbers that decide whether they are used: the nearest so far, what is within reach, layers that are not faint."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openmp.compile_support import kernel

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

SOURCE = Path(__file__).with_name("deciding_numbers.cu")
KERNELS = ("nearest_by_tiles", "within_reach", "by_ways", "composited", "also_elsewhere")
GRID, BLOCK, COUNT = 2, 32, 50


def arguments(name: str, random: np.random.Generator, each: int) -> tuple[Any, ...]:
    """In the order of the kernel's parameters, outputs included; of each element, so many others."""

    def draw(*shape: int, least: float = -1.0) -> np.ndarray[Any, np.dtype[np.float64]]:
        return random.uniform(least, 1, shape)

    y = np.zeros(COUNT)
    return {
        "nearest_by_tiles": (COUNT, each, draw(COUNT, 2), draw(each, 2), y, np.zeros(COUNT, np.int32)),
        "within_reach": (COUNT, each, 0.3, draw(COUNT), draw(each), y),
        "by_ways": (COUNT, each, draw(COUNT, each), y),
        "composited": (COUNT, each, draw(each, least=0.0), draw(COUNT, each, least=0.0), y),
        "also_elsewhere": (COUNT, each, draw(COUNT, each), y),
    }[name]


@pytest.fixture(scope="module")
def kernels() -> Module:
    return adgen.compile(SOURCE)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("each", [1, 33, 70])
def test_a_kernel_is_checked_against_differences_and_the_witness(kernels: Module, name: str, each: int) -> None:
    seed = secrets.randbits(31)
    result = kernel(kernels, name).check[GRID, BLOCK](*arguments(name, np.random.default_rng(seed), each), seed=seed)
    assert any(parameter.difference for parameter in result.parameters)
