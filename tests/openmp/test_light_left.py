"""Products that the reverse sweep divides: whichever iteration comes before the one that leaves the loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import kernel

import enzyme_driver as adgen


@pytest.fixture(scope="module")
def light(toolchain: object) -> adgen.Kernel:
    del toolchain
    return kernel(adgen.compile(Path(__file__).with_name("light_left.cu")), "light")


@pytest.mark.parametrize("count", [1, 4, 40])
@pytest.mark.parametrize("threads", [5, 32])
def test_light(light: adgen.Kernel, count: int, threads: int) -> None:
    rng = np.random.default_rng(count + threads)
    x, density = rng.uniform(-1, 1, count), rng.uniform(-1, 1, count)
    light.check[2, threads](x, density, np.zeros(count), count)


@pytest.mark.parametrize("density", [[3, -2, 3, 3], [3, 3, -2, 3], [-2, 3, 3, 3], [3, 3, 3, -2]])
def test_a_skipped_point_or_a_seen_one_before_the_last(light: adgen.Kernel, density: list[float]) -> None:
    """With -2 a point is passed over; two of 3 leave a hundredth."""
    x = np.linspace(-0.05, 0.05, 4) + 0.01
    light.check[1, 2](x, np.array(density, float), np.zeros(4), 4)
