"""What is infinite, or no number, and has no part in a result has no derivative: zero times infinity is zero there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen

CUDA = """
__global__ void in_another_loop(const double *x, const double *w, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double r = rsqrt(x[i]) * w[i];
    for (int k = 0; k < 4; ++k) {
        if (k * x[i] > 2) {
            y[i] += r;
            return;
        }
        y[i] += w[i] * k;
    }
}
__global__ void kept_in_an_array(const double *x, const double *w, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double kept[4];
    for (int k = 0; k < 4; ++k) kept[k] = k % 2 ? w[i] / x[i] : w[i] * x[i];
    y[i] = kept[x[i] > 0 ? 1 : i % 2 * 2];
}
__global__ void left_in_a_tile(const double *x, const double *w, double *y, int n)
{
    __shared__ double tile[8];
    int i = threadIdx.x;
    tile[i] = w[i] / x[i];
    __syncthreads();
    y[i] = x[i] > 0 ? tile[i] : w[i] * x[i];
}
__global__ void replaced(const double *x, const double *w, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double *to = y + i;
    *to = log(x[i]) * w[i];
    if (x[i] < 0.5) *to = w[i] * w[i];
    *to += x[i];
}
__global__ void stored_logarithms(const double *x, const double *w, double *logs, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double of = x[i] > 0 ? log(x[i]) : -INFINITY, sum = log(exp(of) * w[i] * w[i]);
    logs[i] = sum + w[i];
    y[i] = exp(sum);
}
struct Arrays { const double *x, *w; double *y; };
__global__ void swallowed(Arrays of, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double r = 1 / of.x[i];
    if (of.w[i] == 0) r = 0.25;
    of.y[i] = tanh(r) * of.w[i];
}
"""
CPP = """
#include <cmath>
void distance(const double *x, const double *w, double *y, int n)
{
    for (int i = 0; i < n; ++i) y[i] = hypot(x[i], w[i]) + atan2(x[i], w[i]);
}
"""


def in_another_loop(x: float, w: float) -> tuple[float, float]:
    steps = [k for k in range(4) if k * x > 2]
    if not steps:
        return 0.0, 6.0
    return -0.5 * w * x**-1.5, sum(range(steps[0])) + x**-0.5


def kept_in_an_array(x: float, w: float) -> tuple[float, float]:
    return (-w / x**2, 1 / x) if x > 0 else (w, x)


def left_in_a_tile(x: float, w: float) -> tuple[float, float]:
    return kept_in_an_array(x, w)


def replaced(x: float, w: float) -> tuple[float, float]:
    return (1.0, 2 * w) if x < 0.5 else (1 + w / x, np.log(x))


def stored_logarithms(x: float, w: float) -> tuple[float, float]:
    return (w**2, 2 * x * w) if x > 0 else (0.0, 0.0)


def swallowed(x: float, w: float) -> tuple[float, float]:
    if w == 0:
        return 0.0, np.tanh(0.25)
    return (-w / (x * np.cosh(1 / x)) ** 2, np.tanh(1 / x)) if x else (0.0, 1.0)


X = np.array([-1.0, 0.0, 0.25, 2.0, 1.0, -3.0, 0.0, 4.0])
W = np.array([0.5, 0.75, -0.5, 0.25, 1.5, 2.0, 0.0, -1.0])


@pytest.mark.usefixtures("toolchain")
def test_kernels(tmp_path: Path) -> None:
    source = tmp_path / "dropped.cu"
    source.write_text(CUDA)
    module = adgen.compile(source)
    for exact in (in_another_loop, kept_in_an_array, left_in_a_tile, replaced):
        kernel: Any = module[exact.__name__]
        found = kernel.vjp[1, 8](X, W, np.zeros(8), 8, cotangents={"y": np.ones(8)})
        slopes = np.array([exact(*each) for each in zip(X, W, strict=True)])
        np.testing.assert_allclose(found["x"], slopes[:, 0], rtol=1e-12, err_msg=exact.__name__)
        np.testing.assert_allclose(found["w"], slopes[:, 1], rtol=1e-12, err_msg=exact.__name__)
    kernel = module["stored_logarithms"]
    found = kernel.vjp[1, 8](X, W, np.zeros(8), np.zeros(8), 8, cotangents={"y": np.ones(8)})
    slopes = np.array([stored_logarithms(*each) for each in zip(X, W, strict=True)])
    np.testing.assert_allclose(found["x"], slopes[:, 0], rtol=1e-12)
    np.testing.assert_allclose(found["w"], slopes[:, 1], rtol=1e-12)
    kernel = module["swallowed"]
    w = np.where(np.arange(8) == 2, 0.0, W)
    found = kernel.vjp[1, 8]({"x": X, "w": w, "y": np.zeros(8)}, 8, cotangents={"of": {"y": np.ones(8)}})
    slopes = np.array([swallowed(*each) for each in zip(X, w, strict=True)])
    np.testing.assert_allclose(found["of"]["x"], slopes[:, 0], rtol=1e-12)
    np.testing.assert_allclose(found["of"]["w"], slopes[:, 1], rtol=1e-12)


@pytest.mark.usefixtures("toolchain")
def test_a_distance_of_nothing_has_the_derivative_of_the_gpu(tmp_path: Path) -> None:
    source = tmp_path / "distance.cpp"
    source.write_text(CPP)
    x, w = (np.append(each, zeros) for each, zeros in ((X, [0, 0, -0.0, -0.0]), (W, [0, -0.0, 0, -0.0])))
    distance, y = adgen.compile(source)["distance"], np.zeros(len(x))
    distance(x, w, y, len(x))
    np.testing.assert_allclose(y, np.hypot(x, w) + np.arctan2(x, w), rtol=1e-15)
    found = distance.vjp(x, w, np.zeros(len(x)), len(x), cotangents={"y": np.ones(len(x))})
    squares = np.where(x**2 + w**2 == 0, 1, x**2 + w**2)
    length = np.sqrt(squares)
    np.testing.assert_allclose(found["x"], x / length + w / squares, rtol=1e-12)
    np.testing.assert_allclose(found["w"], w / length - x / squares, rtol=1e-12)
