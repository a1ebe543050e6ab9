"""The ways in which the host's threads add to shadows: all give the same gradient, one of them the same bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.backends.teams import threads
from enzyme_driver.runtime.call.accumulation import WAYS
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel

TEAMS = (1, 2, 7)
Gradient = Callable[[Path, np.random.Generator], dict[str, np.ndarray]]

POLYNOMIALS = """
#include <cmath>
#include <vector>

// Every thread needs all coefficients, and a scratch array that all share is written between the loops.
void polynomials(const double *coefficients, const double *x, double *y, int degree, int n)
{
    std::vector<double> scaled(degree);
#pragma omp parallel for
    for (int k = 0; k < degree; k++)
        scaled[k] = coefficients[k] * coefficients[0];
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = degree - 1; k >= 0; k--)
            sum = sum * x[i] + coefficients[k] + std::sin(scaled[k]);
        y[i] = sum;
    }
}
"""

GATHER = """
__global__ void gather(const float *table, const int *place, const double *weight, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = table[place[i]] * (float)weight[place[i]] + table[0];
}

__global__ void tiles(const float *table, float *y, int n) {
    __shared__ float tile[32];
    tile[threadIdx.x] = table[threadIdx.x] * table[blockIdx.x % n];
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = tile[31 - threadIdx.x] * tile[0];
}

// Neighbouring blocks meet at their edges, in rows and in columns.
__global__ void spread(const double *u, const double *w, double *v, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 2 || x >= nx - 1 || y >= ny - 2) return;
    double near = u[y * nx + x - 1] * u[y * nx + x + 1], far = u[(y - 2) * nx + x] + u[(y + 2) * nx + x];
    v[y * nx + x] = w[y * nx + x] * near * far;
}

// The blocks of one row all add to the same column, and those of one column to the same row.
__global__ void outer(const double *a, const double *b, double *c, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny) c[y * nx + x] = a[x] * b[y];
}
"""


def polynomials(folder: Path, rng: np.random.Generator) -> dict[str, np.ndarray]:
    (folder / "polynomials.cpp").write_text(POLYNOMIALS, encoding="utf-8")
    function = adgen.compile(folder / "polynomials.cpp", function="polynomials")
    assert isinstance(function, Function)
    arguments = (rng.uniform(-1, 1, 9), rng.uniform(-1, 1, 500), np.zeros(500), 9, 500)
    return function.vjp(*arguments, cotangents={"y": rng.standard_normal(500)})


def swarm(folder: Path, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Accumulates into shadows that are also read and written, between the forks."""
    del folder
    function = adgen.compile(Path(__file__).with_name("overwritten.cpp"), function="swarm")
    assert isinstance(function, Function)
    near = rng.integers(0, 900, (900, 3)).astype(np.int32)
    return function.vjp(rng.uniform(-1, 1, 900), rng.uniform(0.5, 1, 900), near, 900, 3, 0.1)


def gather(folder: Path, rng: np.random.Generator) -> dict[str, np.ndarray]:
    (folder / "gather.cu").write_text(GATHER, encoding="utf-8")
    kernel = adgen.compile(folder / "gather.cu", kernel="gather")
    assert isinstance(kernel, Kernel)
    place = rng.integers(0, 5, 999).astype(np.int32)
    arguments = (
        rng.standard_normal(5).astype(np.float32),
        place,
        rng.standard_normal(5),
        np.zeros(999, np.float32),
        999,
    )
    return kernel.vjp[32, 32](*arguments, cotangents={"y": rng.standard_normal(999).astype(np.float32)})


def tiles(folder: Path, rng: np.random.Generator) -> dict[str, np.ndarray]:
    (folder / "tiles.cu").write_text(GATHER, encoding="utf-8")
    kernel = adgen.compile(folder / "tiles.cu", kernel="tiles")
    assert isinstance(kernel, Kernel)
    arguments = (rng.standard_normal(32).astype(np.float32), np.zeros(32 * 40, np.float32), 32)
    return kernel.vjp[40, 32](*arguments, cotangents={"y": rng.standard_normal(32 * 40).astype(np.float32)})


def spread(folder: Path, rng: np.random.Generator) -> dict[str, np.ndarray]:
    (folder / "spread.cu").write_text(GATHER, encoding="utf-8")
    kernel = adgen.compile(folder / "spread.cu", kernel="spread")
    assert isinstance(kernel, Kernel)
    nx, ny = 61, 83
    u, w, bar = (rng.standard_normal((ny, nx)) for _ in range(3))
    return kernel.vjp[(4, 21), (16, 4)](u, w, np.zeros((ny, nx)), nx, ny, cotangents={"v": bar})


def outer(folder: Path, rng: np.random.Generator) -> dict[str, np.ndarray]:
    (folder / "outer.cu").write_text(GATHER, encoding="utf-8")
    kernel = adgen.compile(folder / "outer.cu", kernel="outer")
    assert isinstance(kernel, Kernel)
    nx, ny = 61, 83
    a, b, bar = rng.standard_normal(nx), rng.standard_normal(ny), rng.standard_normal((ny, nx))
    return kernel.vjp[(4, 21), (16, 4)](a, b, np.zeros((ny, nx)), nx, ny, cotangents={"c": bar})


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("gradient", [polynomials, swarm, gather, tiles, spread, outer])
def test_all_ways_agree_with_any_number_of_threads(gradient: Gradient, tmp_path: Path) -> None:
    seed = np.random.default_rng().integers(2**31)
    found = {}
    for count in TEAMS:
        for way in WAYS:
            with threads(count), adgen.accumulation(way):
                found[count, way] = gradient(tmp_path, np.random.default_rng(seed))
    for (count, way), arrays in found.items():
        for name, array in arrays.items():
            one = found[1, "atomic"][name]
            digits = 1e-4 if one.dtype == np.float32 or gradient in (gather, tiles) else 1e-11
            np.testing.assert_allclose(
                array, one, rtol=digits, atol=digits, err_msg=f"{way}, {count} threads, {name}, seed {seed}"
            )


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("gradient", [polynomials, swarm, gather, tiles, spread, outer])
def test_one_way_gives_the_same_bits(gradient: Gradient, tmp_path: Path) -> None:
    seed = np.random.default_rng().integers(2**31)
    with threads(7), adgen.accumulation("deterministic"):
        first, *others = [gradient(tmp_path, np.random.default_rng(seed)) for _ in range(8)]
    for other in others:
        for name, array in first.items():
            np.testing.assert_array_equal(other[name], array, err_msg=f"{name}, seed {seed}")


def test_a_way_that_there_is_not() -> None:
    with (
        pytest.raises(adgen.UsageError, match=r"'privat' is no way to accumulate(.|\n)*did you mean 'private'"),
        adgen.accumulation("privat"),
    ):
        pass
