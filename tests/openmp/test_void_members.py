"""Members of type void * of structs by value are pointers to the numbers that the kernel takes them for."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from ml_dtypes import bfloat16

import enzyme_driver as adgen
from enzyme_driver.errors import RefusedError

SOURCE = Path(__file__).with_name("void_members.cu")
N = 50


@pytest.mark.parametrize("name", ["activated<float>", "activated<double>"])
def test_the_gradient_with_respect_to_members(name: str, toolchain: object) -> None:
    del toolchain
    dtype = np.float32 if "float" in name else np.float64
    random = np.random.default_rng(5)
    x, bias, weight = random.normal(size=N).astype(dtype), random.normal(size=4).astype(dtype), random.random(N)
    given = {"x": x, "given_bias": bias, "sizes": {"n": N, "slope": 1.5}, "y": np.zeros(N, dtype)}
    kernel = adgen.compile(SOURCE, kernel=name, verify="always")
    found = kernel.vjp[2, 32](given, cotangents={"p": {"y": weight.astype(dtype)}}, wrt=("p.x", "p.given_bias"))
    v = np.float32(1.5) * x.astype(np.float64) + bias.astype(np.float64)[np.arange(N) % 4]
    slope = weight * np.where(v > 0, 2 * v, 0.5)
    assert np.allclose(found["p.x"], 1.5 * slope, rtol=1e-5, atol=1e-6)
    assert np.allclose(found["p.given_bias"], [slope[k::4].sum() for k in range(4)], rtol=1e-5, atol=1e-6)


def test_members_that_hold_halves(toolchain: object) -> None:
    del toolchain
    random = np.random.default_rng(7)
    x, bias, weight = (random.normal(size=count).astype(np.float16) for count in (N, 4, N))
    given = {"x": x, "given_bias": bias, "sizes": {"n": N, "slope": 1.5}, "y": np.zeros(N, np.float16)}
    kernel = adgen.compile(SOURCE, kernel="rounded<c10::Half>", verify="always")
    found = kernel.vjp[2, 32](given, cotangents={"p": {"y": weight}}, wrt=("p.x", "p.given_bias"))
    v = 1.5 * x.astype(np.float64) + bias.astype(np.float64)[np.arange(N) % 4]
    slope = weight * np.where(v > 0, 2 * v, 0.5)
    assert np.allclose(found["p.x"], 1.5 * slope, rtol=2e-3, atol=2e-3)
    assert np.allclose(found["p.given_bias"], [slope[k::4].sum() for k in range(4)], rtol=1e-2, atol=1e-2)
    assert not adgen.compile(SOURCE, kernel="rounded<__nv_bfloat16>", target="cuda").gradient_refusal


@pytest.mark.parametrize(("name", "dtype"), [("scaled<__half>", np.float16), ("scaled<__nv_bfloat16>", bfloat16)])
def test_numbers_of_16_bits_and_structs_of_numbers(name: str, dtype: Any, toolchain: object) -> None:  # noqa: ANN401
    del toolchain
    random = np.random.default_rng(6)
    x, weight = (random.uniform(0.3, 1.7, N).astype(dtype) for _ in range(2))
    bias = random.uniform(0.3, 1.7, 8).astype(np.float32)
    given = {"x": x, "given_bias": bias, "sizes": {"n": N, "slope": 1.5}, "y": np.zeros(N, dtype)}
    kernel = adgen.compile(SOURCE, kernel=name, verify="always")
    found = kernel.vjp[2, 32](given, cotangents={"p": {"y": weight}}, wrt=("p.x", "p.given_bias"))
    cotangent = weight.astype(np.float64)
    assert found["p.x"].dtype == dtype
    assert np.allclose(found["p.x"].astype(np.float64), 3 * x.astype(np.float64) * cotangent, rtol=2e-2)
    sums = [cotangent[k::2].sum() for k in range(2)]
    slopes = [[bias[4 * k + 3] * sums[k], 0, 0, bias[4 * k] * sums[k]] for k in range(2)]
    assert np.allclose(found["p.given_bias"].reshape(2, 4), slopes, rtol=1e-4)


@pytest.mark.parametrize("target", ["openmp", "cuda"])
def test_members_of_two_types_are_refused(target: Literal["openmp", "cuda"], toolchain: object) -> None:
    del toolchain
    assert not adgen.compile(SOURCE, kernel="activated<float>", target=target).gradient_refusal
    with pytest.raises(RefusedError, match="points to void"):
        adgen.compile(SOURCE, kernel="mixed", target=target)
    with pytest.raises(RefusedError, match="points to void"):
        adgen.compile(SOURCE, kernel="copied", target=target)
