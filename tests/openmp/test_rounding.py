"""Cotangents that are rounded to narrow types, and those that rounding would cancel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import kernel

import enzyme_driver as adgen

pytestmark = pytest.mark.usefixtures("toolchain")

CUDA = """
#include <cuda_bf16.h>
__global__ void rounded(const double *x, double *y, double s)
{
    __nv_bfloat16 narrow = __float2bfloat16((float)x[threadIdx.x]);
    y[threadIdx.x] = s * double(__bfloat162float(narrow));
}
__global__ void taken_from_itself(const double *x, double *y)
{
    double v = x[threadIdx.x], d = v > 0.2 ? v * v + v : v - v;
    y[threadIdx.x] = log(fabs(d) + 1e-30) + 0.5 * v;
}
"""
N = 8


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> adgen.Module:
    path: Path = tmp_path_factory.mktemp("rounding") / "rounding.cu"
    path.write_text(CUDA, encoding="utf-8")
    return adgen.compile(path)


@pytest.mark.parametrize("s", [1.0, 1e-30, 1e-50, 1e-300, -1e-30, -1e-50, 1e38, -1e38])
def test_cotangents_of_bfloat16_are_rounded(module: adgen.Module, s: float) -> None:
    """Also those that no float holds any more: they are zero."""
    x, y = np.random.default_rng(3).uniform(-1, 1, N), np.zeros(N)
    found = kernel(module, "rounded").vjp[1, N](x, y, s, cotangents={"y": np.ones(N)})["x"]
    expected = s if abs(s) > 2.0**-126 else 0.0
    np.testing.assert_allclose(found, np.full(N, expected), rtol=2.0**-8)


def test_differences_of_a_number_and_itself_leave_what_else_there_is(module: adgen.Module) -> None:
    x = np.random.default_rng(4).uniform(-1, 1, N)
    x[:2] = 0.7, -0.4
    found = kernel(module, "taken_from_itself").vjp[1, N](x, np.zeros(N), cotangents={"y": np.ones(N)})["x"]
    np.testing.assert_allclose(found, 0.5 + np.where(x > 0.2, (2 * x + 1) / (x * x + x), 0.0), rtol=1e-12)
