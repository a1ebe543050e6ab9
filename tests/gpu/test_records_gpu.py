"""Bulk reductions on a GPU: whole records, wherever they begin, and blocks with more threads than have room."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

cupy = pytest.importorskip("cupy")

FILE = Path(__file__).with_name("records.cu")
RECORDS, THREADS = 37, 5000
KERNELS = {
    "weigh<double, 12>": ("float64", 12),
    "weigh<double, 15>": ("float64", 15),
    "weigh<float, 29>": ("float32", 29),
}


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("block", [64, 1000])
@pytest.mark.parametrize("ahead", [0, 1, 3])
def test_records_are_added_to(name: str, block: int, ahead: int) -> None:
    dtype, length = KERNELS[name]
    rng = np.random.default_rng()
    table, weights = rng.uniform(0.5, 1.5, RECORDS * length), rng.uniform(0.5, 1.5, length)
    which, seed = rng.integers(0, RECORDS, THREADS), rng.uniform(0.5, 1.5, THREADS)
    kernel = adgen.compile(FILE, kernel=name, target="cuda", activity={"weights": "const"})
    shadow = cupy.zeros(ahead + RECORDS * length + 4, dtype)
    kernel.gradient[-(-THREADS // block), block](
        *(cupy.asarray(table, dtype), cupy.asarray(which, "int32"), cupy.asarray(weights, dtype)),
        *(cupy.zeros(THREADS, dtype), THREADS),
        shadows={"table": shadow[ahead : ahead + RECORDS * length], "out": cupy.asarray(seed, dtype)},
    )
    sums = np.bincount(which, seed, RECORDS)
    expected = 2 * sums[:, None] * weights * table.reshape(RECORDS, length)
    found = shadow.get()
    np.testing.assert_allclose(
        found[ahead : ahead + RECORDS * length], expected.ravel(), rtol=1e-12 if dtype == "float64" else 1e-4
    )
    assert not found[:ahead].any()
    assert not found[ahead + RECORDS * length :].any()
