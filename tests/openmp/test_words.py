"""Numbers and structs that go through shuffles one word after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

FILE = Path(__file__).with_name("words.cu")


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize(
    ("name", "grid", "block", "results"),
    [("numbers", 1, 32, 32), ("structs", 1, 32, 32), ("larger", 2, 64, 4), ("running", 2, 64, 128)],
)
def test_gradients(module: Module, name: str, grid: int, block: int, results: int) -> None:
    rng = np.random.default_rng(5)
    x, w = rng.uniform(0.5, 1.5, grid * block), rng.uniform(0.5, 1.5, grid * block)
    inputs = (x.astype(np.float32), w) if name == "structs" else (x,)
    kernel: Any = module[name]
    kernel.check[grid, block](*inputs, np.zeros(results))


@pytest.mark.usefixtures("toolchain")
def test_each_of_two_halves_is_kept_or_not(module: Module) -> None:
    x, weights = np.random.default_rng(6).normal(size=(2, 64)).astype(np.float16)
    kernel: Any = module["pairs"]
    found = kernel.vjp[1, 32](x, np.zeros(64, np.float16), cotangents={"y": weights}, wrt="x")["x"]
    assert np.array_equal(found, np.where(abs(x) > 0.5, weights, 0))


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", ["__half", "__nv_bfloat16"])
def test_numbers_of_16_bits_go_through_shuffles(module: Module, name: str) -> None:
    shifted = np.array([*range(1, 32), 31])
    x = np.random.default_rng(7).integers(-4, 5, 32).astype(np.float32)
    weights = np.random.default_rng(8).integers(-2, 3, 32).astype(np.float32)

    def stored(numbers: np.ndarray) -> np.ndarray:
        return numbers.astype(np.float16) if name == "__half" else (numbers.view(np.uint32) >> 16).astype(np.uint16)

    kernel: Any = module[f"neighbours<{name}>"]
    found = kernel.vjp[1, 32](stored(x), stored(np.zeros_like(x)), cotangents={"y": stored(weights)}, wrt="x")["x"]
    sums = np.repeat(x.reshape(8, 4).sum(1), 4)
    expected = np.repeat((weights * x[shifted]).reshape(8, 4).sum(1), 4)
    np.add.at(expected, shifted, weights * sums)
    assert np.array_equal(found, stored(expected))
