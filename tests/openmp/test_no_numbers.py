"""Kernels that ask whether a result is a number, and take another one in its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

KERNEL = """
#include <math.h>
__global__ void replaced(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r = RESULT;
    if (KIND(r)) r = 3.0f * x[(i + 1) % n];
    y[i] = r * r;
}
"""


@pytest.mark.parametrize(
    ("result", "kind", "value", "slope"),
    [
        ("scalbnf(x[i], 2)", "isnan", np.nan, 4),
        ("ldexpf(x[i], 1)", "isnan", np.nan, 2),
        ("fdimf(x[i], -1.0f)", "isnan", np.nan, 1),
        ("remainderf(x[i], 8.0f)", "isnan", np.nan, 1),
        ("scalbnf(x[i], 2)", "isinf", np.inf, 4),
        ("scalbnf(x[i], 2)", "!isfinite", -np.inf, 4),
    ],
)
def test_what_is_no_number_is_replaced(tmp_path: Path, result: str, kind: str, value: float, slope: float) -> None:
    source = tmp_path / "replaced.cu"
    source.write_text(KERNEL.replace("RESULT", result).replace("KIND", kind), encoding="utf-8")
    kernel = adgen.compile(source, target="openmp", verify="never", kernel="replaced", modes="forward")
    x = np.random.default_rng().uniform(0.5, 2, 32).astype(np.float32)
    x[7] = value
    taken = (x + 1 if "fdim" in result else slope * x).astype(np.float64)
    taken[7] = 3 * x[8]
    expected = 2 * taken * slope
    expected[7] = 0
    expected[8] += 2 * taken[7] * 3
    found = kernel.vjp[1, 32](x, np.zeros_like(x), x.size, cotangents={"y": np.ones_like(x)})["x"]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    tangents = kernel.jvp[1, 32](x, np.zeros_like(x), x.size, tangents={"x": np.ones_like(x)})["y"]
    along = 2 * taken * slope
    along[7] = 2 * taken[7] * 3
    np.testing.assert_allclose(tangents, along, rtol=1e-5)
