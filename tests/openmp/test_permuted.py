"""Numbers of half precision that are moved by permutations of their bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.kernel import Kernel

SOURCE = Path(__file__).with_name("permuted.cu")
N = 40
PAIR = np.dtype([("x", np.float16), ("y", np.float16)])


def _pairs(rng: np.random.Generator) -> np.ndarray:
    made = np.zeros(N, PAIR)
    for member in ("x", "y"):
        made[member] = rng.uniform(0.5, 1.5, N)
    return made


@pytest.mark.usefixtures("toolchain")
def test_whole_numbers_keep_their_derivative() -> None:
    kernel = adgen.compile(SOURCE, kernel="lows")
    assert isinstance(kernel, Kernel)
    rng = np.random.default_rng(1)
    a, b, one = _pairs(rng), _pairs(rng), np.zeros(N, PAIR)
    one["x"] = one["y"] = 1
    found = kernel.vjp[1, 64](a, b, np.zeros(N, PAIR), N, cotangents={"r": one})
    for one_of, other in (("x", "y"), ("y", "x")):  # of a.x * b.y and b.x * a.y
        np.testing.assert_allclose(found["a"][one_of], b[other], rtol=2e-3)
        np.testing.assert_allclose(found["b"][one_of], a[other], rtol=2e-3)


@pytest.mark.usefixtures("toolchain")
def test_a_computed_order_is_refused() -> None:
    with pytest.raises(adgen.RefusedError, match="permutation of the bytes of numbers"):
        adgen.compile(SOURCE, kernel="larger")
