"""Outputs that nobody needs after a gradient: not written again, the gradient the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

SOURCE = """\
__global__ void curve(const double *x, const double *w, double *y, double *slope, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double e = exp(x[i]) * w[i];
    y[i] = e * e;
    slope[i] = 2 * e;
}

__global__ void strided(const double *x, double *y, int n) {
    __shared__ double tile[32];
    for (int i = blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) {
        tile[threadIdx.x] = sin(x[i + threadIdx.x]);
        __syncthreads();
        for (int k = 0; k < 3; ++k) y[i + threadIdx.x] = tile[threadIdx.x] * tile[(threadIdx.x + k) % 32];
        __syncthreads();
    }
}

__global__ void sums(const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i] * x[i];
}
"""
N = 128


@pytest.mark.usefixtures("toolchain")
def test_the_gradient_is_the_same_and_writes_nothing(file: Path) -> None:
    rng = np.random.default_rng()
    x, w, seed_y, seed_slope = (rng.uniform(0.5, 1, N) for _ in range(4))
    curve = adgen.compile(file, kernel="curve", activity={"y": "discarded", "slope": "discarded"})
    y, slope, d_x, d_w = (np.full(N, 7.0) for _ in range(4))
    curve.gradient[4, 32](
        x, w, y, slope, N, shadows={"x": d_x, "w": d_w, "y": seed_y.copy(), "slope": seed_slope.copy()}
    )
    e = np.exp(x)
    d_e = 2 * e * w * seed_y + 2 * seed_slope
    np.testing.assert_allclose(d_x, 7 + d_e * e * w, rtol=1e-12)
    np.testing.assert_allclose(d_w, 7 + d_e * e, rtol=1e-12)
    assert (y == 7).all()
    assert (slope == 7).all()


@pytest.mark.usefixtures("toolchain")
def test_what_is_overwritten_counts_once(file: Path) -> None:
    adgen.compile(file, kernel="strided", target="cuda", activity={"y": "discarded"})
    strided = adgen.compile(file, kernel="strided", activity={"y": "discarded"})
    x, y = np.random.default_rng().uniform(0.5, 1, N), np.zeros(N)
    strided.check[2, 32](x, y, N)
    g = strided.vjp[2, 32](x, y, N, cotangents={"y": np.ones(N)})["x"]
    s, c = np.sin(x).reshape(-1, 32), np.cos(x).reshape(-1, 32)
    np.testing.assert_allclose(g.reshape(-1, 32), c * (np.roll(s, -2, 1) + np.roll(s, 2, 1)), rtol=1e-12)


@pytest.mark.usefixtures("toolchain")
def test_what_is_read_cannot_be_discarded(file: Path) -> None:
    with pytest.raises(adgen.RefusedError, match="'y' cannot be discarded: the kernel reads it"):
        adgen.compile(file, kernel="sums", activity={"y": "discarded"}).vjp[4, 32](np.ones(N), np.ones(N), N)
