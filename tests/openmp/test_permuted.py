"""Numbers that are moved as parts of an integer, by permutations of bytes, shifts, masks and rotations."""

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
def test_halves_of_words_keep_their_derivative() -> None:
    """r.x = a.y * b.x * b.y and r.y = a.x * a.y * a.x; and in half precision r.x = a.y * a.x, r.y = a.x * b.y."""
    rng = np.random.default_rng(2)
    kernel = adgen.compile(SOURCE, kernel="exchanged")
    assert isinstance(kernel, Kernel)
    a, b, r, c = (rng.uniform(0.5, 1.5, (N, 2)).astype(np.float32) for _ in range(4))
    found = kernel.vjp[1, 64](a, b, r, N, cotangents={"r": c})
    (ax, ay), (bx, by), (cx, cy) = a.T, b.T, c.T
    np.testing.assert_allclose(found["a"], np.stack([2 * cy * ax * ay, cx * bx * by + cy * ax * ax], 1), rtol=1e-5)
    np.testing.assert_allclose(found["b"], np.stack([cx * ay * by, cx * ay * bx], 1), rtol=1e-5)

    halves = adgen.compile(SOURCE, kernel="halves")
    assert isinstance(halves, Kernel)
    one_half, other, one = _pairs(rng), _pairs(rng), np.zeros(N, PAIR)
    one["x"] = one["y"] = 1
    found = halves.vjp[1, 64](one_half, other, np.zeros(N, PAIR), N, cotangents={"r": one})
    np.testing.assert_allclose(found["a"]["x"], one_half["y"].astype(np.float32) + other["y"], rtol=2e-3)
    np.testing.assert_allclose(found["a"]["y"], one_half["x"], rtol=2e-3)
    np.testing.assert_allclose(found["b"]["y"], one_half["x"], rtol=2e-3)
    assert not found["b"]["x"].any()


@pytest.mark.usefixtures("toolchain")
def test_shadows_need_no_more_alignment_than_arrays_of_the_host_have() -> None:
    kernel = adgen.compile(SOURCE, kernel="squared", verify="always")
    assert isinstance(kernel, Kernel)
    room = np.zeros(8 * N + 16, np.float32)
    x = room[4 + -room.ctypes.data % 32 // 4 :][: 8 * N]  # 16 bytes from the nearest multiple of 32
    x[:] = np.random.default_rng(3).uniform(0.5, 1.5, 8 * N)
    found = kernel.vjp[1, N](x, np.zeros_like(x), cotangents={"y": np.ones_like(x)})
    np.testing.assert_allclose(found["x"], 2 * x, rtol=1e-6)


@pytest.mark.usefixtures("toolchain")
def test_a_computed_order_is_refused() -> None:
    with pytest.raises(adgen.RefusedError, match="permutation of the bytes of numbers"):
        adgen.compile(SOURCE, kernel="larger")
