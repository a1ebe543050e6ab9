"""Loops whose iterations are counted at run time, and loops of unknown length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from openmp.compile_support import artifact

import enzyme_driver as adgen
from enzyme_driver.runtime.kernel import Kernel

pytestmark = pytest.mark.usefixtures("toolchain")

Array = npt.NDArray[np.float32]
FILE = Path(__file__).with_name("strides.cu")


@pytest.fixture(scope="module")
def kernels() -> adgen.Module:
    return adgen.compile(FILE, verify="always")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def arguments(name: str, rng: np.random.Generator) -> tuple[tuple[int, int], tuple[Any, ...]]:
    """Of a launch, and what goes into it; the last rows and elements are cut off by sizes that do not divide."""

    def numbers(count: int) -> tuple[Array, Array]:
        return rng.uniform(-1, 1, count).astype(np.float32), np.zeros(count, np.float32)

    if name == "filtered":
        x, y = numbers(2 * 5 * 40)
        return (2, 32), (x, rng.uniform(-0.4, 0.4, 32).astype(np.float32), y, 5, 40)
    x, y = numbers(150)
    steps = {"unsigned_stride": (37,), "downwards": (41,)}
    blocks = 1 if name in steps else 5 if name == "settled" else 2
    return (blocks, 32), (x, y, 150, *steps.get(name, ()))


@pytest.mark.parametrize("name", ["filtered", "grid_stride", "unsigned_stride", "downwards", "settled"])
def test_right(kernels: adgen.Module, rng: np.random.Generator, name: str) -> None:
    """By dual numbers, and by differences."""
    launch, args = arguments(name, rng)
    kernel = kernels[name]
    assert isinstance(kernel, Kernel)
    assert kernel.check[launch](*args, seed=3).passed


@pytest.mark.parametrize(("rounds", "blocks"), [(3, 2), (5, 1), (0, 1)])
def test_rounds_of_the_block(kernels: adgen.Module, rng: np.random.Generator, rounds: int, blocks: int) -> None:
    """Up to the end of the array, up to the last round, and none; the arrays are members of a struct with numbers."""
    x, scale = rng.uniform(-1, 1, (2, 150)).astype(np.float32)
    of = {"x": x, "scale": scale, "y": np.zeros(150, np.float32), "gain": 1.5, "most": 0.3, "n": 150, "rounds": rounds}
    kernel = kernels["in_rounds"]
    assert isinstance(kernel, Kernel)
    assert kernel.check[blocks, 32](of, seed=3).passed


def test_rounds_of_the_block_keep_nothing_on_a_gpu() -> None:
    """Iterations are counted, and arrays in a struct told apart although Enzyme writes to its shadow."""
    entries = {entry.signature.name: entry for entry in artifact(FILE).entries}
    found = entries["in_rounds"].targets["cuda"]
    assert found.gradient
    assert not found.tape


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_loops_that_do_not_run_or_run_once(kernels: adgen.Module, rng: np.random.Generator, steps: int) -> None:
    x, taps = rng.uniform(-1, 1, 80).astype(np.float32), rng.uniform(-0.4, 0.4, 32).astype(np.float32)
    cotangents = {"y": rng.uniform(-1, 1, 80).astype(np.float32)}
    args = (x, taps, np.zeros(80, np.float32), steps, 40)
    kernel = kernels["filtered"]
    assert isinstance(kernel, Kernel)
    found = kernel.vjp[1, 32](*args, cotangents=cotangents)
    assert np.any(found["taps"]) == (steps > 0)
