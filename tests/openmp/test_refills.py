"""Shared arrays that the reverse sweep fills again hold what they held; those that it does not follow are kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

FILE = Path(__file__).with_name("refills.cu")
KERNELS = (
    *("guarded", "partly", "chased", "carved", "overwritten", "nested", "walked", "branched"),
    *("looped", "shrinking", "begun", "swapped", "handed"),
)
WIDTH, STEP = 8, 1e-6


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", KERNELS)
def test_gradient_is_that_of_differences(name: str) -> None:
    random = np.random.default_rng()
    kernel = adgen.compile(FILE, name, target="openmp")
    count = int(random.integers(27, 35))
    launch = (1, WIDTH, None, 2 * WIDTH * 8 if name == "carved" else 0)
    places = random.integers(0, count, count, dtype=np.int32)
    x, direction = random.uniform(0.5, 1.5, count), random.standard_normal(count)
    before, d_y = random.uniform(0.5, 1.5, WIDTH), random.standard_normal(WIDTH)

    def result(at: np.ndarray) -> float:
        y = before.copy()
        kernel[launch](at, places, count, y)
        return float(y @ d_y)

    shadows = {"x": np.zeros(count), "y": d_y.copy()}
    kernel.gradient[launch](x, places, count, before.copy(), shadows=shadows)
    difference = (result(x + STEP * direction) - result(x - STEP * direction)) / (2 * STEP)
    np.testing.assert_allclose(shadows["x"] @ direction, difference, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", KERNELS)
def test_gradient_is_that_of_the_witness(name: str) -> None:
    random = np.random.default_rng()
    kernel = adgen.compile(FILE, name, target="openmp")
    launch = (1, WIDTH, None, 2 * WIDTH * 8 if name == "carved" else 0)
    numbers, places = random.uniform(0.5, 1.5, 34), random.integers(0, 34, 34, dtype=np.int32)
    assert kernel.check[launch](numbers, places, 34, random.uniform(0.5, 1.5, WIDTH)).passed
