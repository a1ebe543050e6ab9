"""Kernels whose parameters hold no floating point: their gradients are refused for that, whatever else they do."""

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

SOURCE = """
__global__ void turned(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int i = threadIdx.x;
    tile[i] = i < n ? in[i] : 0;
    __syncthreads();
    out[i] = tile[blockDim.x - 1 - i];
    if (__syncthreads_or(out[i] > 40)) out[i] += __shfl_xor_sync(0xffffffffu, in[i], 1);
    out[i] += __popc(__match_any_sync(0xffffffffu, in[i] / 2));
}
__global__ void means(const unsigned char *in, unsigned char *out)
{
    __shared__ float tile[32];
    double v = in[threadIdx.x];
    for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
    tile[threadIdx.x] = float(v);
    __syncthreads();
    float w = __shfl_sync(0xffffffffu, tile[31 - threadIdx.x], 7);
    out[threadIdx.x] = (unsigned char)(w / 32);
}
__global__ void twice(const float *x, float *y)
{
    y[threadIdx.x] = 2 * x[threadIdx.x];
}
"""


@pytest.mark.usefixtures("toolchain")
def test_the_true_reason(tmp_path: Path) -> None:
    path = tmp_path / "integers.cu"
    path.write_text(SOURCE, encoding="utf-8")
    for target in TARGETS:
        made = read(build(new(path, targets=[target]), settings=Settings.from_environment(), use_cache=False))
        refused = {entry.signature.name: entry.targets[target].gradient_refused for entry in made.entries}
        assert [getattr(refused[name], "reason", None) for name in ("turned", "means", "twice")] == [
            "turned has no parameter to differentiate",
            "means has no parameter to differentiate",
            None,
        ]


@pytest.mark.usefixtures("toolchain")
def test_the_primal_is_there(tmp_path: Path) -> None:
    path = tmp_path / "integers.cu"
    path.write_text(SOURCE, encoding="utf-8")
    module = adgen.compile(path, cache=False)
    given = np.arange(64, dtype=np.int32)
    out = np.zeros(64, np.int32)
    module.turned[1, 64](given, out, 50)
    expected = np.where(given < 50, given, 0)[::-1] + (given ^ 1) + 2
    assert out.tolist() == expected.tolist()
    colours = np.arange(32, dtype=np.uint8)
    module.means[1, 32](colours, colours)
    assert colours.tolist() == [15] * 32
