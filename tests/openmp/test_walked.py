"""What loops in each other move on together is where it was: results and gradients are right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import kernel

import enzyme_driver as adgen

SOURCE = Path(__file__).with_name("walked.cu")
RANDOM = np.random.default_rng(5)


@pytest.fixture(scope="module")
def module(toolchain: object) -> adgen.Module:
    del toolchain
    return adgen.compile(SOURCE)


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.uniform(0.5, 1.5, shape).astype(np.float32)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_unfolded(module: adgen.Module, size: int) -> None:
    shape = (3, 4, 5)
    volume, columns = numbers(*shape), numbers(size**3, *shape)
    arguments = (volume, *shape, size, columns)
    entry = kernel(module, "unfolded")
    entry.check[2, 32](*arguments)
    entry[2, 32](*arguments)
    padded = np.pad(volume, [(size // 2, size - 1 - size // 2)] * 3)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size, size))
    assert np.array_equal(columns, windows.transpose(3, 4, 5, 0, 1, 2).reshape(columns.shape))


@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 1, 1), (3, 1, 2)])
def test_weighed(module: adgen.Module, shape: tuple[int, int, int]) -> None:
    volume, weights, sums = numbers(*shape, 3), numbers(shape[2]), numbers(3)
    arguments = (volume, weights, *shape, sums)
    entry = kernel(module, "weighed")
    entry.check[1, 3](*arguments)
    entry[1, 3](*arguments)
    terms = (volume * weights[:, None]).reshape(-1, 3)
    kept = 0.5 ** np.arange(len(terms))[::-1]
    np.testing.assert_allclose(sums, kept @ terms, rtol=1e-5)
