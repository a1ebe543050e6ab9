"""Loops over the grid whose iterations are reversed one by one: their gradients are right, and they have no tape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import artifact, kernel

import enzyme_driver as adgen

SOURCE = Path(__file__).with_name("strided.cu")
COUNT = 60


@pytest.fixture(scope="module")
def module(toolchain: object) -> adgen.Module:
    del toolchain
    return adgen.compile(SOURCE)


def checked(module: adgen.Module, name: str, block: int | tuple[int, int], *arguments: object) -> None:
    kernel(module, name).check[2, block](*arguments)


@pytest.mark.parametrize("threads", [2, 7, 15, 40])
def test_rows(module: adgen.Module, threads: int) -> None:
    random = np.random.default_rng(threads)
    iterations = -(-COUNT // (2 * threads))
    reached = iterations * (COUNT + 1)
    which = random.integers(0, 9, reached + 1).astype(np.int32)
    x = random.uniform(0.5, 1.5, 9).astype(np.float32)
    checked(module, "rows", threads, COUNT, 4, x, which, np.zeros(COUNT, np.float32))


@pytest.mark.parametrize("threads", [3, 40])
def test_kinds(module: adgen.Module, threads: int) -> None:
    x = np.random.default_rng(threads).uniform(0.5, 1.5, COUNT).astype(np.float32)
    checked(module, "kinds", (threads, 3), COUNT, x, np.zeros(3 * COUNT, np.float32))


@pytest.mark.parametrize("kinds", [0, 5])
@pytest.mark.parametrize("threads", [3, 40])
def test_weighted(module: adgen.Module, threads: int, kinds: int) -> None:
    random = np.random.default_rng(threads + kinds)
    x, weight = random.uniform(-1, 1, COUNT).astype(np.float32), random.uniform(0.5, 1, 5).astype(np.float32)
    kind = random.integers(0, 5, COUNT).astype(np.int32)
    checked(module, "weighted", threads, COUNT, kinds, x, kind, weight, 2.0, np.zeros(COUNT, np.float32))


@pytest.mark.usefixtures("toolchain")
def test_nothing_is_kept_in_memory() -> None:
    made = artifact(SOURCE)
    for entry in made.entries:
        gpu = entry.targets["cuda"]
        assert (gpu.gradient_refused, gpu.heap, gpu.tape) == (None, False, None), entry.signature.name
