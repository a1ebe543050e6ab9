"""Recurrences in segments: the gradient is right for every number of steps, and is that without segments."""

from __future__ import annotations

import secrets
from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import compiled_without, kernel

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

FILE = Path(__file__).with_name("recurrences.cu")
KERNELS = ("two_values", "downwards", "inside", "with_inputs", "all_states", "until_small")
STEPS = (0, 1, 3, 4, 5, 15, 16, 17, 20, 32, 37, 64)
_COUNT = 5


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE)


@pytest.fixture(scope="module")
def plain() -> Module:
    """Each step in an iteration of its own."""
    return compiled_without("strip-mine-recurrences", FILE)


def gradient(module: Module, name: str, steps: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    random = np.random.default_rng(seed)
    x = random.uniform(0.3, 0.7, _COUNT)
    cotangent = random.normal(size=_COUNT * max(1, steps))
    d_x = np.zeros(_COUNT)
    shadows = {"x": d_x, "out": cotangent}
    kernel(module, name).gradient[1, _COUNT](x, np.zeros_like(cotangent), _COUNT, steps, shadows=shadows)
    return d_x


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", KERNELS)
def test_gradient(module: Module, plain: Module, name: str) -> None:
    seed = secrets.randbits(31)
    for steps in STEPS:
        x = np.random.default_rng(seed).uniform(0.3, 0.7, _COUNT)
        kernel(module, name).check[1, _COUNT](x, np.zeros(_COUNT * max(1, steps)), _COUNT, steps, seed=seed)
        wanted = gradient(plain, name, steps, seed)
        np.testing.assert_allclose(gradient(module, name, steps, seed), wanted, rtol=1e-11, atol=1e-13)
