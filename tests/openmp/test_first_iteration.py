"""What changes behind the first iteration alone follows from the iteration: gradients are right, and have no tape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import artifact, kernel

import enzyme_driver as adgen

SOURCE = Path(__file__).with_name("first_iteration.cu")
COUNT = 23


@pytest.fixture(scope="module")
def module(toolchain: object) -> adgen.Module:
    del toolchain
    return adgen.compile(SOURCE)


def checked(module: adgen.Module, name: str, block: int | tuple[int, int], *arguments: object) -> None:
    kernel(module, name).check[2, block](*arguments)


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).uniform(0.5, 1.5, shape).astype(np.float32)


@pytest.mark.parametrize("points", [0, 1, 2, 7])
def test_trapezoids(module: adgen.Module, points: int) -> None:
    checked(module, "trapezoids", 12, COUNT, points, numbers(COUNT), 0.25, np.zeros(COUNT, np.float32))


@pytest.mark.parametrize("points", [0, 1, 2, 9])
def test_smoothed(module: adgen.Module, points: int) -> None:
    checked(module, "smoothed", 12, COUNT, points, numbers(COUNT), 0.75, np.zeros(COUNT, np.float32))


def test_edges(module: adgen.Module) -> None:
    width, height, channels = 8, 5, 3
    random = np.random.default_rng(7)
    depth = random.permutation(width * height).astype(np.float32).reshape(height, width) * 0.05 + 0.013
    colour = numbers(height, width, channels)
    arrays = (colour, depth.astype(np.float32), np.zeros_like(colour))
    checked(module, "edges", (4, height), width, height, channels, *arrays)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", ["trapezoids", "edges"])
def test_nothing_is_kept_in_memory(name: str) -> None:
    made = artifact(SOURCE)
    gpu = next(entry.targets["cuda"] for entry in made.entries if entry.signature.name == name)
    assert (gpu.gradient_refused, gpu.heap, gpu.tape) == (None, False, None)
