"""Maxima that lanes exchange, where several numbers are the largest: all lanes have that of one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from openmp.compile_support import kernel

import enzyme_driver as adgen


@pytest.fixture(scope="module")
def kernels(toolchain: object) -> adgen.Module:
    del toolchain
    module = adgen.compile(Path(__file__).with_name("ties.cu"), verify="never")
    assert isinstance(module, adgen.Module)
    return module


def _softmax_gradient(x: NDArray[np.float64], toward: NDArray[np.float64]) -> NDArray[np.float64]:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    y = e / e.sum(axis=-1, keepdims=True)
    return np.asarray(y * (toward - (toward * y).sum(axis=-1, keepdims=True)))


KERNELS = [
    ("softmax<float>", np.float32),
    ("softmax<double>", np.float64),
    ("merged_softmax<true>", np.float32),
    ("merged_softmax<false>", np.float32),
    ("softmax_by_fours", np.float32),
    ("softmax_by_all", np.float32),
    *((f"softmax_by<{how}>", np.float32) for how in ("Half", "HalfPair", "Magnitude", "Bits", "ByNumber", "Around")),
]


@pytest.mark.parametrize(("name", "dtype"), KERNELS)
@pytest.mark.parametrize("many", [2, 3, 31, 32])
def test_softmax_of_a_warp(kernels: adgen.Module, name: str, dtype: type[np.float32 | np.float64], many: int) -> None:
    rng = np.random.default_rng(many)
    x, toward = rng.uniform(-1, 1, (4, 32)).astype(dtype), rng.standard_normal((4, 32)).astype(dtype)
    for row in x:
        row[rng.permutation(32)[:many]] = 1.5
    gradient = np.zeros((4, 32), dtype)
    shadows = {"x": gradient, "y": toward.copy()}
    kernel(kernels, name).gradient[2, 64](x, np.zeros((4, 32), dtype), shadows=shadows)
    atol = 2e-3 if "Half" in name else 1e-6
    np.testing.assert_allclose(gradient, _softmax_gradient(x.astype(float), toward.astype(float)), atol=atol)


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_softmax_of_some_lanes(kernels: adgen.Module, lanes: int) -> None:
    rng = np.random.default_rng(lanes)
    x = rng.integers(-2, 2, (128 // lanes, lanes)).astype(np.float32)
    toward, gradient = rng.standard_normal(x.shape).astype(np.float32), np.zeros_like(x)
    shadows = {"x": gradient, "y": toward.copy()}
    kernel(kernels, f"softmax_of_lanes<{lanes}>").gradient[2, 64](x, np.zeros_like(x), shadows=shadows)
    np.testing.assert_allclose(gradient, _softmax_gradient(x.astype(float), toward.astype(float)), atol=1e-6)


@pytest.mark.parametrize("name", ["softmax<float>", "softmax_by<ByNumber>", "softmax_by<Around>"])
def test_what_is_not_a_number_stays_so(kernels: adgen.Module, name: str) -> None:
    x = np.linspace(-1, 1, 32, dtype=np.float32)
    x[7] = np.nan
    gradient = np.zeros_like(x)
    shadows = {"x": gradient, "y": np.ones_like(x)}
    kernel(kernels, name).gradient[1, 32](x, np.zeros_like(x), shadows=shadows)
    assert np.isnan(gradient).all()


def test_softmax_of_halves(kernels: adgen.Module) -> None:
    rng = np.random.default_rng(1)
    x, toward = rng.integers(-3, 2, 128).astype(np.float16), rng.standard_normal(128).astype(np.float32)
    assert (x == x.max()).sum() > 1
    gradient = np.zeros(128, np.float16)
    shadows = {"x": gradient, "y": toward.copy()}
    kernel(kernels, "softmax_of_halves").gradient[1, 32](x, np.zeros(128, np.float32), shadows=shadows)
    expected = _softmax_gradient(x.astype(float), toward.astype(float))
    np.testing.assert_allclose(gradient.astype(float), expected, atol=2e-3 * abs(expected).max())


@pytest.mark.parametrize("search", ["ByBits", "InPlace", "OfWarps"])
@pytest.mark.parametrize("many", [2, 3, 64, 128])
def test_softmax_of_a_block(kernels: adgen.Module, search: str, many: int) -> None:
    rng = np.random.default_rng(many)
    x, toward = (rng.uniform(-1, 1, (2, 128)).astype(np.float32) for _ in range(2))
    for row in x:
        row[rng.permutation(128)[:many]] = 1.5
    gradient = np.zeros((2, 128), np.float32)
    shadows = {"x": gradient, "y": toward.copy()}
    kernel(kernels, f"softmax_of_block<{search}>").gradient[2, 128](x, np.zeros((2, 128), np.float32), shadows=shadows)
    np.testing.assert_allclose(gradient, _softmax_gradient(x.astype(float), toward.astype(float)), atol=1e-6)


def test_what_is_sorted_is_a_permutation(kernels: adgen.Module) -> None:
    rng = np.random.default_rng(2)
    x, toward = rng.integers(0, 4, 32).astype(np.float32), rng.permutation(32).astype(np.float32)
    found, gradient = np.zeros(32, np.float32), np.zeros(32, np.float32)
    sorts = kernel(kernels, "sorted_halves")
    sorts[1, 32](x, found)
    np.testing.assert_array_equal(found, np.sort(x))
    sorts.gradient[1, 32](x, found, shadows={"x": gradient, "y": toward.copy()})
    np.testing.assert_array_equal(np.sort(gradient), np.sort(toward))
    for value in range(4):
        assert set(gradient[x == value]) == set(toward[found == value])
