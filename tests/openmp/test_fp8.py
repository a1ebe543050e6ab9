"""FP8 is an integer of 8 bits: gradients go past it, to what is multiplied with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import enzyme_driver as adgen

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("fp8.cu")
N = 32
FORMATS = {"__nv_fp8_e4m3": ml_dtypes.float8_e4m3fn, "__nv_fp8_e5m2": ml_dtypes.float8_e5m2}


def nearest(x: Any, dtype: Any) -> Any:  # noqa: ANN401
    """What is too large becomes the largest number."""
    most = float(ml_dtypes.finfo(dtype).max)
    return np.clip(x, -most, most).astype(dtype)


@pytest.mark.parametrize("name", FORMATS)
def test_all_codes_are_widened(name: str) -> None:
    codes, y = np.arange(256, dtype=np.uint8), np.zeros(256, np.float32)
    adgen.compile(FILE, f"widened<{name}>")[1, 256](codes, y, 256)
    expected = codes.view(FORMATS[name]).astype(np.float32)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(y[finite], expected[finite])
    assert np.isnan(y[np.isnan(expected)]).all()


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_are_rounded_to_the_nearest(name: str) -> None:
    dtype = FORMATS[name]
    numbers = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
    numbers = np.sort(numbers[np.isfinite(numbers)])
    between = (numbers[1:] + numbers[:-1]) / 2
    drawn = np.random.default_rng(8).normal(size=200).astype(np.float32)
    x = np.concatenate([numbers, between, drawn, 300 * drawn, drawn / 300, np.array([1e6, -1e6], np.float32)])
    codes = np.zeros(len(x), np.uint8)
    adgen.compile(FILE, f"rounded<{name}>")[16, 128](x, codes, len(x))
    np.testing.assert_array_equal(codes.view(dtype).astype(float), nearest(x, dtype).astype(float))


def test_pairs_of_halves_are_rounded() -> None:
    x = np.random.default_rng(8).uniform(-3, 3, 2 * N).astype(np.float16)
    codes = np.zeros(2 * N, np.uint8)
    adgen.compile(FILE, "rounded_pairs")[1, N](x, codes.view(np.uint16), N)
    expected = nearest(x.astype(np.float32), ml_dtypes.float8_e4m3fn)
    np.testing.assert_array_equal(codes, expected.view(np.uint8))


def test_gradients_go_past_weights() -> None:
    rng = np.random.default_rng(8)
    weights = rng.uniform(-2, 2, (N, N)).astype(ml_dtypes.float8_e4m3fn)
    scales, x = rng.uniform(0.5, 2, N).astype(np.float32), rng.uniform(-1, 1, N).astype(np.float32)
    kernel = adgen.compile(FILE, "times_weights", modes=["forward"])
    kernel.check[1, N](weights.view(np.uint8), scales, x, np.zeros(N, np.float32), N)
    ones = {"y": np.ones(N, np.float32)}
    found = kernel.vjp[1, N](weights.view(np.uint8), scales, x, np.zeros(N, np.float32), N, cotangents=ones)
    matrix = weights.astype(float)
    np.testing.assert_allclose(found["x"], 2 * matrix.T @ (scales * (matrix @ x)), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found["scales"], (matrix @ x) ** 2, rtol=1e-4, atol=1e-5)


def test_what_is_rounded_has_no_derivative() -> None:
    x = np.random.default_rng(8).uniform(0.5, 2, N).astype(np.float32)
    kernel = adgen.compile(FILE, "times_its_rounded")
    found = kernel.vjp[1, N](x, np.zeros(N, np.float32), N, cotangents={"y": np.ones(N, np.float32)})["x"]
    np.testing.assert_array_equal(found, nearest(x, ml_dtypes.float8_e4m3fn).astype(np.float32))
