"""A kernel of a PyTorch extension that takes tensors as `TensorInfo`, without PyTorch's headers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import enzyme_driver as adgen

SOURCE = Path(__file__).with_name("torch_rows.cu")
KERNEL = "into_rows<float>"
N = 24


def info(data: np.ndarray[Any, Any]) -> dict[str, object]:
    sizes, strides = np.ones(25, np.int32), np.ones(25, np.int32)
    sizes[: data.ndim] = data.shape
    strides[: data.ndim] = [stride // data.itemsize for stride in data.strides]
    return {"data": data, "sizes": sizes, "strides": strides, "dims": data.ndim}


@pytest.mark.parametrize("target", ["openmp", "cuda"])
def test_both_targets_have_the_gradient(target: Literal["openmp", "cuda"], toolchain: object) -> None:
    del toolchain
    assert not adgen.compile(SOURCE, kernel=KERNEL, target=target).gradient_refusal


def test_the_gradient(toolchain: object) -> None:
    del toolchain
    random = np.random.default_rng(6)
    x, row = random.normal(size=(2, 3, 4)).astype(np.float32), random.integers(0, 5, N)
    weight = random.normal(size=5).astype(np.float32)
    kernel = adgen.compile(SOURCE, kernel=KERNEL, verify="always")
    args = (info(x), info(row), np.zeros(5, np.float32), N)
    found = kernel.vjp[1, 32](*args, cotangents={"y": weight}, wrt="x.data")["x.data"]
    expected = 2 * x.ravel() * weight[row] * (2 + np.arange(N) % 2)
    assert np.allclose(np.ravel(found), expected, rtol=1e-5, atol=1e-6)
