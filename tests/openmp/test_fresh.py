"""Shadows that are known to hold zeros: the gradient the same, written where each element is added to once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

SOURCE = """\
__global__ void wave(const double *x, const double *w, double *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = sin(x[i]) * w[0] + x[i] * x[i];
}

__global__ void smooth(const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n) y[i] = x[i] * x[i - 1];
}

__global__ void sums(double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] *= 2;
}
"""
N = 300


@pytest.mark.usefixtures("toolchain")
def test_elements_added_to_once_are_written(file: Path) -> None:
    rng = np.random.default_rng()
    x, w, seed = rng.uniform(0.5, 1, N), rng.uniform(0.5, 1, 1), rng.uniform(0.5, 1, N)
    adgen.compile(file, kernel="wave", target="cuda", activity={"x": "fresh", "w": "fresh"})
    wave = adgen.compile(file, kernel="wave", activity={"x": "fresh", "w": "fresh"})
    d_x, d_w = np.full(N, 7.0), np.zeros(1)
    wave.gradient[2, 32](x, w, np.zeros(N), N, shadows={"x": d_x, "w": d_w, "y": seed.copy()})
    np.testing.assert_allclose(d_x, seed * (np.cos(x) * w + 2 * x), rtol=1e-12)
    np.testing.assert_allclose(d_w, (seed * np.sin(x)).sum(), rtol=1e-12)
    wave.check[2, 32](x, w, np.zeros(N), N)


@pytest.mark.usefixtures("toolchain")
def test_elements_of_two_threads_are_added_to(file: Path) -> None:
    rng = np.random.default_rng()
    x, seed = rng.uniform(0.5, 1, N), rng.uniform(0.5, 1, N)
    smooth = adgen.compile(file, kernel="smooth", activity={"x": "fresh"})
    found = smooth.vjp[10, 32](x, np.zeros(N), N, cotangents={"y": seed})["x"]
    expected = np.zeros(N)
    expected[1:] += seed[1:] * x[:-1]
    expected[:-1] += seed[1:] * x[1:]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.usefixtures("toolchain")
def test_the_shadow_of_what_is_written_is_not_fresh(file: Path) -> None:
    with pytest.raises(adgen.RefusedError, match="'x' cannot be fresh: the kernel writes it"):
        adgen.compile(file, kernel="sums", activity={"x": "fresh"}).vjp[10, 32](np.ones(N), np.ones(N), N)
