"""The largest of a few lanes' numbers on a GPU, where cotangents come to its lane from those that have it."""

from __future__ import annotations

from pathlib import Path

import pytest
from openmp.compile_support import kernel

import enzyme_driver as adgen

cupy = pytest.importorskip("cupy")
numpy = pytest.importorskip("numpy")

FILE = Path(__file__).parents[1] / "openmp" / "ties.cu"


@pytest.mark.usefixtures("toolchain")
def test_largest_of_tiles() -> None:
    largest = kernel(adgen.compile(FILE, target="cuda"), "largest_of_tiles")
    rng = numpy.random.default_rng()
    x, toward = rng.permutation(128).astype("f4"), rng.uniform(1, 2, 16).astype("f4")
    y = cupy.zeros(16, "f4")
    gradient = largest.vjp[2, 64](cupy.asarray(x), y, cotangents={"y": cupy.asarray(toward)})["x"].get()
    expected = numpy.where(x == x.reshape(16, 8).max(axis=1).repeat(8), toward.repeat(8), 0)
    numpy.testing.assert_array_equal(gradient, expected)
