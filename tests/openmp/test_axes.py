"""Members of a local struct by an index from the first one, which nvcc lets people do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

SOURCE = """\
struct Particle { float x, y, z; int kind; };

__device__ float along(const Particle &p, int axis) { return (&p.x)[axis]; }

__global__ void projected(const Particle *particles, const float *weight, float *y, int axes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle p = particles[i];
    p.x += 1.0f;
    if (p.kind == 1) p.y *= 2.0f;
    float sum = 0.0f;
    for (int axis = 0; axis < axes; ++axis) sum += along(p, axis) * along(p, axis) * weight[axis];
    y[i] = sum;
}
"""
ON_HOST = """\
#include <cmath>
struct Point {
    float x, y, z;
    float operator[](int k) const { return (&x)[k]; }
};

void chosen(const float *x, const int *axis, float *y, int n) {
    for (int i = 0; i < n; i++) {
        Point p = {0.7f, 0.7f * x[i], 0.f};
        if (p.x * p.z < 0) p = {p.y, p.z, p.x};
        y[i] = tanhf(p[axis[i]]);
    }
}
"""
PARTICLE = np.dtype([("x", np.float32), ("y", np.float32), ("z", np.float32), ("kind", np.int32)])
N = 20


@pytest.mark.usefixtures("toolchain")
def test_an_index_reaches_every_member(tmp_path: Path) -> None:
    file = tmp_path / "axes.cu"
    file.write_text(SOURCE, encoding="utf-8")
    projected = adgen.compile(file, kernel="projected")
    rng = np.random.default_rng()
    particles = np.zeros(N, PARTICLE)
    for axis in "xyz":
        particles[axis] = rng.uniform(0.5, 1.5, N)
    particles["kind"] = np.arange(N) % 2
    weight, y = rng.uniform(0.5, 1.5, 3).astype(np.float32), np.zeros(N, np.float32)
    projected[1, 32](particles, weight, y, 3, N)
    moved = [particles["x"] + 1, particles["y"] * (1 + particles["kind"]), particles["z"]]
    np.testing.assert_allclose(y, weight @ np.square(moved), rtol=1e-5)
    projected.check[1, 32](particles, weight, y, 3, N)


@pytest.mark.usefixtures("toolchain")
def test_an_index_reaches_every_member_on_the_host(tmp_path: Path) -> None:
    file = tmp_path / "axes.cpp"
    file.write_text(ON_HOST, encoding="utf-8")
    chosen = adgen.compile(file, function="chosen")
    x = np.random.default_rng().uniform(0.5, 1.5, N).astype(np.float32)
    axis, y = np.arange(N, dtype=np.int32) % 3, np.zeros(N, np.float32)
    chosen(x, axis, y, N)
    np.testing.assert_allclose(y, np.tanh(np.float32(0.7) * np.select([axis == 0, axis == 1], [1, x])), rtol=1e-5)
    chosen.check(x, axis, y, N)
