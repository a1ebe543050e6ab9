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


HOWS = ("Half", "HalfChoice", "HalfPair", "Magnitude", "Bits", "ByNumber", "Around")
KERNELS = [
    ("softmax<float>", np.float32),
    ("softmax<double>", np.float64),
    ("merged_softmax<true>", np.float32),
    ("merged_softmax<false>", np.float32),
    ("softmax_by_fours", np.float32),
    ("softmax_by_all", np.float32),
    *((f"softmax_by<{how}>", np.float32) for how in HOWS),
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


OF_LANES = [(lanes, f"softmax_of_lanes<{lanes}>") for lanes in (4, 8, 16)]
AROUND = [(4, "true"), (8, "false"), (16, "true"), (16, "false")]


@pytest.mark.parametrize(
    ("lanes", "name"),
    [*OF_LANES, *((lanes, f"softmax_around_lanes<{lanes}, {by_width}>") for lanes, by_width in AROUND)],
)
def test_softmax_of_some_lanes(kernels: adgen.Module, lanes: int, name: str) -> None:
    rng = np.random.default_rng(lanes)
    x = rng.integers(-2, 2, (128 // lanes, lanes)).astype(np.float32)
    toward, gradient = rng.standard_normal(x.shape).astype(np.float32), np.zeros_like(x)
    shadows = {"x": gradient, "y": toward.copy()}
    kernel(kernels, name).gradient[2, 64](x, np.zeros_like(x), shadows=shadows)
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


@pytest.mark.parametrize(("lanes", "each"), [(2, 1), (8, 1), (32, 2), (32, 4)])
def test_masked_softmax_of_rows(kernels: adgen.Module, lanes: int, each: int) -> None:
    rng = np.random.default_rng(lanes * each)
    columns, rows = lanes * each - (lanes > 2), 5
    x = rng.integers(-2, 2, (rows, columns)).astype(np.float16)
    masked = (rng.random(x.shape) < 0.2).astype(np.uint8)
    masked[2] = 1
    toward, gradient = rng.standard_normal(x.shape).astype(np.float16), np.zeros_like(x)
    shadows = {"x": gradient, "y": toward.copy()}
    softmax = kernel(kernels, f"masked_softmax<{lanes}, {each}>")
    softmax.gradient[2, (lanes, 2)](x, masked, np.zeros_like(x), rows, columns, shadows=shadows)
    seen = np.where(masked == 1, -10000, x.astype(float))
    expected = _softmax_gradient(seen, toward.astype(float)) * (masked != 1)
    np.testing.assert_allclose(gradient, expected, atol=1e-3 * abs(expected).max())


@pytest.mark.parametrize("search", ["ByBits", "InPlace", "OfWarps", "FromEnd"])
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


@pytest.mark.parametrize("name", ["sorted_halves", "sorted_floats"])
def test_what_is_sorted_is_a_permutation(kernels: adgen.Module, name: str) -> None:
    rng = np.random.default_rng(2)
    x, toward = rng.integers(0, 4, 32).astype(np.float32), rng.permutation(32).astype(np.float32)
    found, gradient = np.zeros(32, np.float32), np.zeros(32, np.float32)
    sorts = kernel(kernels, name)
    sorts[1, 32](x, found)
    np.testing.assert_array_equal(found, np.sort(x))
    sorts.gradient[1, 32](x, found, shadows={"x": gradient, "y": toward.copy()})
    np.testing.assert_array_equal(np.sort(gradient), np.sort(toward))
    for value in range(4):
        assert set(gradient[x == value]) == set(toward[found == value])


@pytest.mark.parametrize(("name", "kept"), [("sorted_in_registers", 4), ("largest_two", 2)])
def test_what_a_thread_sorts_is_a_permutation(kernels: adgen.Module, name: str, kept: int) -> None:
    rng = np.random.default_rng(kept)
    x = rng.integers(0, 3, (16, 4)).astype(np.float32)
    toward = (1 + rng.permutation(64)).astype(np.float32).reshape(x.shape)
    toward[:, : 4 - kept] = 0
    gradient = np.zeros_like(x)
    shadows = {"x": gradient, "y": toward.copy()}
    kernel(kernels, name).gradient[1, 16](x, np.zeros_like(x), shadows=shadows)
    for row, given, found in zip(x, toward, gradient, strict=True):
        order = np.sort(row)
        assert sorted(found) == sorted(given)
        for value in set(order[4 - kept :]):
            assert set(given[order == value]) <= set(found[row == value])


ORDERED = """\
#include <algorithm>
#include <cmath>
void ordered(const double *a, const double *b, double *less, double *more, int n) {
    for (int i = 0; i < n; ++i)
        less[i] = SMALLER(a[i], b[i]), more[i] = LARGER(a[i], b[i]);
}
"""


@pytest.mark.parametrize("fast_math", [False, True])
@pytest.mark.parametrize(("smaller", "larger"), [("std::min", "std::max"), ("std::fmin", "std::fmax")])
def test_minimum_and_maximum_in_cpp(tmp_path: Path, smaller: str, larger: str, fast_math: bool) -> None:
    path = tmp_path / "ordered.cpp"
    path.write_text(ORDERED.replace("SMALLER", smaller).replace("LARGER", larger), encoding="utf-8")
    ordered = adgen.compile(path, function="ordered", fast_math=fast_math, verify="never")
    assert not isinstance(ordered, adgen.Module)
    a, b, to_less, to_more = np.array([1.0, 2, 3]), np.array([1.0, 3, 2]), np.array([5.0, 7, 9]), np.array([2.0, 4, 8])
    found = ordered.vjp(a, b, np.zeros(3), np.zeros(3), 3, cotangents={"less": to_less, "more": to_more})
    np.testing.assert_array_equal(found["a"][1:], [7, 8])
    np.testing.assert_array_equal(found["b"][1:], [4, 9])
    assert sorted([found["a"][0], found["b"][0]]) == [2, 5]


def test_largest_of_tiles(kernels: adgen.Module) -> None:
    rng = np.random.default_rng(4)
    x, toward = rng.permutation(128).astype(np.float32), rng.uniform(1, 2, 16).astype(np.float32)
    gradient = np.zeros(128, np.float32)
    shadows = {"x": gradient, "y": toward.copy()}
    kernel(kernels, "largest_of_tiles").gradient[2, 64](x, np.zeros(16, np.float32), shadows=shadows)
    np.testing.assert_array_equal(gradient, np.where(x == x.reshape(16, 8).max(axis=1).repeat(8), toward.repeat(8), 0))
