"""What kernels of libraries do: sums of doubles over a block by CUB, and structs of many pointers by value."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.artifact import read
from enzyme_driver.cache import build
from enzyme_driver.model import TARGETS
from enzyme_driver.request import new
from enzyme_driver.settings import Settings

SUMS = """
#include <cub/cub.cuh>
__global__ void products(const double *x, double *y, int n)
{
    using Reduce = cub::BlockReduce<double, 16, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 8>;
    __shared__ typename Reduce::TempStorage room, other;
    int i = blockIdx.x * 128 + threadIdx.x + 16 * threadIdx.y;
    double v = i < n ? x[i] : 0;
    double squares = Reduce(room).Sum(v * v), sum = Reduce(other).Sum(v);
    if (threadIdx.x == 0 && threadIdx.y == 0) y[blockIdx.x] = squares * sum;
}
"""

LISTS = """
struct Lists { const float *from[100]; float *to[100]; int sizes[300]; float scale; };
__global__ void many(Lists all)
{
    int k = blockIdx.x;
    for (int i = threadIdx.x; i < all.sizes[k]; i += blockDim.x)
        all.to[k][i] = all.scale * all.from[k][i] * all.from[k][i];
}
"""


@pytest.mark.usefixtures("toolchain")
def test_sums_of_doubles(tmp_path: Path) -> None:
    path = tmp_path / "sums.cu"
    path.write_text(SUMS, encoding="utf-8")
    module = adgen.compile(path, cache=False)
    x, weights = np.random.default_rng(1).normal(size=300), np.array([1.0, -2.0, 3.0])
    found = module.products.vjp[3, (16, 8)](x, np.zeros(3), 300, cotangents={"y": weights})["x"]
    for block in range(3):
        part = x[block * 128 : block * 128 + 128]
        expected = weights[block] * (2 * part * part.sum() + (part * part).sum())
        assert found[block * 128 : block * 128 + 128] == pytest.approx(expected, rel=1e-12)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("source", [SUMS, LISTS])
def test_gpu_code_is_made(source: str, tmp_path: Path) -> None:
    """Also where the struct and its shadow are more than 4 KiB of parameters."""
    path = tmp_path / "kernel.cu"
    path.write_text(source, encoding="utf-8")
    made = read(build(new(path, targets=TARGETS), settings=Settings.from_environment(), use_cache=False))
    (entry,) = made.entries
    assert [entry.targets[target].gradient_refused for target in TARGETS] == [None, None]
