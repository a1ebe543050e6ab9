"""A kernel of a PyTorch extension that takes a struct of tensors, beside what only other compilers read.

PyTorch's and cuSPARSE's headers are not there, a file of another folder neither, and a function is `static` only where
it is declared again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import enzyme_driver as adgen

SOURCE = Path(__file__).with_name("torch_structs.cu")


@pytest.mark.parametrize("target", ["openmp", "cuda"])
def test_both_targets_have_the_gradient(target: Literal["openmp", "cuda"], toolchain: object) -> None:
    del toolchain
    assert not adgen.compile(SOURCE, kernel="weigh", target=target).gradient_refusal


def test_the_gradient(toolchain: object) -> None:
    del toolchain
    random = np.random.default_rng(9)
    values, w = (random.normal(size=shape).astype(np.float32) for shape in ((8, 5), 5))
    cotangent = random.normal(size=8).astype(np.float32)
    grid = {"values": {"data_": values, "sizes_": values.shape, "strides_": [5, 1]}, "scale": 3.0}
    kernel = adgen.compile(SOURCE, kernel="weigh", verify="always")
    found = kernel.vjp[1, 8](grid, w, np.zeros(8, np.float32), cotangents={"y": cotangent})
    assert np.allclose(found["w"], 3 * cotangent @ values**2, rtol=1e-5)
    assert np.allclose(found["grid"]["values"]["data_"], 6 * cotangent[:, None] * w * values, rtol=1e-5)
