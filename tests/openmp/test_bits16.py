"""Classes of one's own that hold bfloat16 or half as an integer have derivatives, as CUDA's own have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import enzyme_driver as adgen

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("bits16.cu")
N = 32
SQUARES = {"squares<Brain>": ml_dtypes.bfloat16, "squares<Half>": np.float16, "cut_squares": ml_dtypes.bfloat16}


def numbers(dtype: Any) -> Any:  # noqa: ANN401
    return np.random.default_rng(16).uniform(0.5, 2, N).astype(dtype)


@pytest.mark.parametrize("name", SQUARES)
def test_numbers_of_16_bits_have_derivatives(name: str) -> None:
    dtype = SQUARES[name]
    kernel = adgen.compile(FILE, name)
    x, y = numbers(dtype), np.zeros(N, dtype)
    found = kernel.vjp[1, N](x, y, cotangents={"y": np.ones(N, dtype)})["x"]
    np.testing.assert_allclose(found.astype(float), 2 * x.astype(float), rtol=1e-2)
    kernel[1, N](x, y)
    np.testing.assert_allclose(y.astype(float), x.astype(float) ** 2, rtol=2.0**-7)
    kernel.check[1, N](x, y)


def test_they_are_carried_by_loops() -> None:
    adgen.compile(FILE, "carried").check[1, N](numbers(ml_dtypes.bfloat16), np.zeros(N, ml_dtypes.bfloat16), N)


def test_they_are_moved_through_memory_and_lanes() -> None:
    x, ones = numbers(np.float32), np.ones(N, np.float32)
    found = adgen.compile(FILE, "moved").vjp[1, N](x, np.zeros_like(x), N, cotangents={"y": ones})["x"]

    def total(x: Any) -> Any:  # noqa: ANN401
        local = np.stack([np.roll(x * x, -k) / 2 for k in range(4)])
        return np.sum([x[k] * local[k % 4].sum() for k in range(N)]) + local[1].sum()

    expected = [total(x + 1e-20j * (np.arange(N) == i)).imag / 1e-20 for i in range(N)]
    np.testing.assert_allclose(found, expected, rtol=2e-2)


def test_floats_that_are_rounded_keep_their_derivative() -> None:
    x, cotangent = numbers(np.float32), np.linspace(1, 2, N, dtype=np.float32)
    found = adgen.compile(FILE, "quantized").vjp[1, N](x, np.zeros_like(x), cotangents={"y": cotangent})["x"]
    np.testing.assert_allclose(found, cotangent, rtol=2.0**-8)


def test_all_of_them_are_compiled_for_a_gpu() -> None:
    for name in (*SQUARES, "carried", "moved", "quantized"):
        assert not adgen.compile(FILE, name, target="cuda").gradient_refusal


@pytest.mark.parametrize(("name", "what"), [("of_words", "uint16"), ("of_pairs", "uint32")])
def test_numbers_in_plain_integers_are_refused(name: str, what: str) -> None:
    with pytest.raises(adgen.RefusedError, match=f"{name} has floating point where .*x.* points to {what}"):
        adgen.compile(FILE, name)
    kernel = adgen.compile(FILE, name, activity={"x": "const"})
    assert [each.name for each in kernel.signature.shadowed] == ["y"]


def test_counting_with_their_bits_is_refused() -> None:
    with pytest.raises(adgen.RefusedError, match="integer arithmetic on the bits"):
        adgen.compile(FILE, "next")


def test_integers_that_are_masked_stay_integers() -> None:
    x = np.random.default_rng(26).integers(0, 2**20, N, dtype=np.uint32)
    adgen.compile(FILE, "masked_counts").check[1, N](x, np.linspace(1, 2, N, dtype=np.float32))
