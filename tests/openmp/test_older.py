"""A file is read as Thrust needs it, whatever older standard its build says; OpenMP and PyTorch have headers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

SOURCE = Path(__file__).with_name("older.cu")


@pytest.mark.parametrize("standard", ["-std=c++14", "--std=gnu++11", "-std=c++20"])
def test_the_gradient(standard: str, toolchain: object) -> None:
    del toolchain
    x = np.random.default_rng(3).normal(size=32).astype(np.float32)
    kernel = adgen.compile(SOURCE, kernel="squared_sum", flags=[standard])
    found = kernel.vjp[1, 32](x, np.zeros(1, np.float32), cotangents={"y": np.ones(1, np.float32)})
    assert np.allclose(found["x"], 2 * x.sum(), rtol=1e-4)
