"""Numbers that the primal drops where their derivative is infinite: nothing of it comes into the gradient."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.kernel import Kernel

pytestmark = pytest.mark.usefixtures("toolchain")

SOURCE = r"""
#define KERNEL(NAME) __global__ void NAME(const double *x, const double *w, double *y)
KERNEL(replaced) { int i = threadIdx.x; double r = w[i] / x[i]; if (x[i] == 0) r = w[i]; y[i] = r; }
KERNEL(with_log) { int i = threadIdx.x; double v = x[i], r = v * log(v); if (v == 0) r = 0; y[i] = r * w[i]; }
KERNEL(capped) { int i = threadIdx.x; y[i] = fmax(log(x[i]), -9.0) * w[i]; }
KERNEL(asked_itself) { int i = threadIdx.x; double r = 1 / x[i]; if (isinf(r)) r = 0; y[i] = r * w[i]; }
KERNEL(normed) {
    int i = threadIdx.x;
    double length = sqrt(x[i] * x[i]), inverse = 1 / length;
    if (length < 1e-9) inverse = 0;
    y[i] = w[i] * inverse;
}
KERNEL(summed) {
    double sum = 0;
    for (int j = 0; j < 8; j++) {
        double d = x[j] - x[threadIdx.x], force = w[j] / d;
        if (d == 0) force = 0;
        sum += force;
    }
    y[threadIdx.x] = sum;
}
"""

Array = np.ndarray[Any, np.dtype[Any]]

X = np.array([0, 0.5, 2, 0, 1, 3, 0.25, 0])
W = np.linspace(-1, 2, 8)
SOME = X > 0


def _of_some(slope: Array) -> Array:
    return np.where(SOME, slope, 0)


def _gradient(module: adgen.Module, name: str) -> dict[str, Array]:
    kernel = module[name]
    assert isinstance(kernel, Kernel)
    return kernel.vjp[1, 8](X, W, np.zeros(8), cotangents={"y": np.ones(8)})


with np.errstate(divide="ignore", invalid="ignore"):
    EXPECTED = {
        "replaced": (_of_some(-W / X**2), np.where(SOME, 1 / X, 1)),
        "with_log": (_of_some(W * (np.log(X) + 1)), _of_some(X * np.log(X))),
        "capped": (_of_some(W / X), np.where(SOME, np.log(X), -9)),
        "asked_itself": (_of_some(-W / X**2), _of_some(1 / X)),
        "normed": (_of_some(-W / X**2), _of_some(1 / X)),
    }


@pytest.fixture
def module(file: Path) -> adgen.Module:
    return adgen.compile(file)


def test_derivatives_of_what_is_used_alone(module: adgen.Module) -> None:
    for name, (by_x, by_w) in EXPECTED.items():
        found = _gradient(module, name)
        np.testing.assert_allclose(found["x"], by_x, rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(found["w"], by_w, rtol=1e-12, err_msg=name)


def test_in_a_loop(module: adgen.Module) -> None:
    found = _gradient(module, "summed")
    apart = X[:, None] - X[None, :]
    with np.errstate(divide="ignore"):
        inverse = np.where(apart == 0, 0, 1 / apart)
    slopes = -W[:, None] * inverse**2
    np.testing.assert_allclose(found["w"], inverse.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(found["x"], slopes.sum(axis=1) - slopes.sum(axis=0), rtol=1e-12)


def test_in_cpp(tmp_path: Path) -> None:
    path = tmp_path / "replaced.cpp"
    text = """
    void replaced(const double *x, const double *w, double *y, int n)
    {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            double r = w[i] / x[i];
            if (x[i] == 0) r = w[i];
            y[i] = r;
        }
    }
    """
    path.write_text(text, encoding="utf-8")
    found = adgen.compile(path)["replaced"].vjp(X, W, np.zeros(8), 8, cotangents={"y": np.ones(8)})
    np.testing.assert_allclose(found["x"], EXPECTED["replaced"][0], rtol=1e-12)
