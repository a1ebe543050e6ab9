"""What shared arrays hold in each round is kept to the last byte, whatever their size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

FILE = Path(__file__).with_name("kept_tiles.cu")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("threads", [5, 7, 8])
@pytest.mark.parametrize("kernel", ["of_launch", "of_five"])
def test_gradient(kernel: str, threads: int) -> None:
    random = np.random.default_rng()
    x, y, d_y = (random.random(count, dtype=np.float32) for count in (23, threads, threads))
    shadows = {"x": np.zeros_like(x), "y": d_y.copy()}
    adgen.compile(FILE, kernel).gradient[1, threads, None, 4 * threads](x, y, len(x), shadows=shadows)
    np.testing.assert_allclose(shadows["x"], 3 * x**2 * d_y.sum(), rtol=1e-5)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("threads", [7, 40])
def test_more_words_than_threads_or_fewer(threads: int) -> None:
    x, y = np.random.default_rng().uniform(0.01, 0.1, (2, 40)).astype(np.float32)
    adgen.compile(FILE, "of_state").check[1, threads](x, y, 5)
