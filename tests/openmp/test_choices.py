"""Pointers that lead to memory with a derivative in one thread and to memory without one in another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

SOURCE = """\
__constant__ double fixed[4] = {0.5, 1.5, 2.5, 3.5};

__global__ void constants(const double *x, double *y, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    const double *from = i % 3 == 0 ? fixed : x;
    y[i] = 0;
    for (int k = 0; k < 4; k++) y[i] += from[k] * from[k] * x[i];
}

__global__ void several(const double *x, const double *z, double *y, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    double table[4] = {1.5, 2.5, 3.5, 4.5};
    const double *both[] = {x, z};
    const double *from = i % 3 == 0 ? table : both[i & 1];
    y[i] = from[i & 3] * x[i];
}
"""
N = 20


@pytest.mark.usefixtures("toolchain")
def test_only_what_has_a_derivative_gets_one(tmp_path: Path) -> None:
    file = tmp_path / "choices.cu"
    file.write_text(SOURCE, encoding="utf-8")
    constants, several = (adgen.compile(file, kernel=name) for name in ("constants", "several"))
    rng = np.random.default_rng()
    x, z = rng.uniform(0.5, 1, N), rng.uniform(0.5, 1, N)
    for _ in range(2):  # a first gradient that wrote into the table would spoil the second
        constants.check[1, 32](x, np.zeros(N), N)
        several.check[1, 32](x, z, np.zeros(N), N)
    adgen.compile(file, target="cuda")
