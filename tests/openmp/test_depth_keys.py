"""A depth above an index in an array of 64-bit integers, as a buffer of visibility holds it, has no derivative."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen

SOURCE = """
__global__ void shade(const unsigned long long *keys, const float3 *points, float *image)
{
    const unsigned long long key = keys[threadIdx.x];
    if (key == ~0ull) return;
    const float depth = __uint_as_float((unsigned)(key >> 32));
    const float3 p = points[(unsigned)key];
    image[2 * threadIdx.x] = p.x * p.y * depth + p.z;
    image[2 * threadIdx.x + 1] = depth;
}
"""


@pytest.mark.usefixtures("toolchain")
def test_what_is_read_by_the_index_has_one(tmp_path: Path) -> None:
    source = tmp_path / "shade.cu"
    source.write_text(SOURCE)
    count = 8
    random = np.random.default_rng(3)
    points = random.uniform(0.5, 1.5, (count, 3)).astype(np.float32)
    index, depth = random.permutation(count), random.uniform(1, 2, count).astype(np.float32)
    keys = depth.view(np.uint32).astype(np.uint64) << np.uint64(32) | index.astype(np.uint64)
    keys[2] = ~np.uint64(0)
    weights = random.normal(size=2 * count).astype(np.float32)
    structs = points.view([("x", "f4"), ("y", "f4"), ("z", "f4")]).reshape(count)
    image = np.zeros(2 * count, np.float32)
    shade: Any = adgen.compile(source)["shade"]
    found = shade.vjp[1, count](keys, structs, image, cotangents={"image": weights})["points"]
    expected = np.zeros((count, 3))
    for pixel in set(range(count)) - {2}:
        x, y, _ = points[index[pixel]]
        expected[index[pixel]] = weights[2 * pixel] * np.array([y * depth[pixel], x * depth[pixel], 1])
    np.testing.assert_allclose(found.view(np.float32).reshape(count, 3), expected, rtol=1e-5)
