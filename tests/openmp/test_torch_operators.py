"""Kernels of a PyTorch extension whose instances follow from operators of tensors, without PyTorch's headers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import enzyme_driver as adgen
from enzyme_driver.runtime.kernel import Kernel

SOURCE = Path(__file__).with_name("torch_operators.cu")
N = 20


def test_host_code_makes_the_instances(toolchain: object) -> None:
    del toolchain
    names = {"weighted<float>", "weighted<c10::BFloat16>"} | {
        f"powers<{kind}, 2>" for kind in ("double", "float", "c10::Half", "c10::BFloat16", "int")
    }
    module = adgen.compile(SOURCE)
    assert {kernel.name for kernel in module} == names
    random = np.random.default_rng(8)
    x, order = random.uniform(0.5, 2, N).astype(np.float32), random.permutation(N)
    weights = random.normal(size=N).astype(np.float32)
    args = (x, order, np.zeros(N, np.float32), 1.5, N)
    kernel = module["weighted<float>"]
    assert isinstance(kernel, Kernel)
    found = kernel.vjp[1, 32](*args, cotangents={"y": weights}, wrt="x")["x"]
    neighbours = x[order].reshape(-1, 2).sum(1)
    expected = np.zeros(N)
    expected[order] = np.repeat(3 * neighbours * weights.reshape(-1, 2).sum(1), 2)
    assert np.allclose(found, expected, rtol=1e-5)


def test_additions_by_an_index_are_those_of_torch(toolchain: object) -> None:
    del toolchain
    kernel = adgen.compile(SOURCE.with_name("torch_scatter.cu"), kernel="index_add<double>")
    random = np.random.default_rng(9)
    x, index, weights = random.normal(size=N), random.integers(0, 4, N), random.normal(size=4)
    x[3] = np.nan
    args = (x, index, np.zeros(4), N, 4)
    found = kernel.vjp[1, 32](*args, cotangents={"y": weights}, wrt="x")["x"]
    expected = 2 * x * weights[index]
    expected[3] = 0
    assert np.allclose(found, expected)
