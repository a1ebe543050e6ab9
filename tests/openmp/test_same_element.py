"""Several threads that store the same value to one element: one takes its cotangent, on both targets."""

from __future__ import annotations

import secrets
from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

SOURCE = Path(__file__).with_name("same_element.cu")
Launch = tuple[int | tuple[int, ...], int | tuple[int, ...], int]
Shape = tuple[int, ...]
"""Of arrays; what is no tuple is a number."""

CASES: dict[str, tuple[Launch, tuple[Shape | int, ...]]] = {
    "plain": ((3, 8, 0), ((3,), (3,))),
    "through_shared": ((3, 32, 0), ((96,), (3,))),
    "shared_same": ((3, 8, 0), ((3,), (24,))),
    "block_sum": ((3, 32, 0), ((96,), (3,))),
    "dynamic": ((3, 16, 64), ((48,), (3,), (48,))),
    "scanned": ((2, 8, 32), ((16,), (2,), 8)),
    "before_a_branch": ((3, 16, 0), ((48,), (3,), (48,))),
    "part_of_a_warp": ((3, 16, 0), ((48,), (3,), (48,))),
    "warp_sums": ((2, 64, 0), ((128,), (128,))),
    "in_a_loop": ((2, 16, 0), ((64,), (8,), 4)),
    "rows": ((2, (8, 4), 0), ((64,), (8,), (16,))),
    "vectors": ((3, 32, 0), ((3, 4), (3, 4))),
    "in_place": ((3, 16, 0), ((16,), (48,))),
    "overlapping": ((2, 32, 0), ((65,), (64,), 60)),
    "by_all_blocks": ((5, 8, 0), ((8,), (8,), (1,))),
    "guarded": (((3, 2), (16, 2), 0), ((40,), (40,), 40)),
    "normalised": ((4, 16, 0), ((80,), (80,), (4,), (4,), 20)),
    "left_early": ((2, 8, 0), ((9,), (2,), (20,), 9)),
    "after_a_loop": ((3, 16, 0), ((24,), (3,), 8)),
    "one_or_two": ((1, 16, 0), ((8,), (3,), 8, 1, 1)),
}


def arguments(name: str, rng: np.random.Generator) -> list[np.ndarray | int]:
    dtype = np.float64 if name == "in_a_loop" else np.float32
    return [shape if isinstance(shape, int) else rng.uniform(0.5, 1.1, shape).astype(dtype) for shape in CASES[name][1]]


def kernel_of(module: Module, name: str) -> adgen.Kernel:
    found = module[name]
    assert isinstance(found, adgen.Kernel)
    return found


def check(kernel: adgen.Kernel, name: str, arrays: list[object], seed: int) -> None:
    grid, block, shared = CASES[name][0]
    kernel.check[grid, block, None, shared](*arrays, seed=seed)


@pytest.fixture(scope="module")
def kernels() -> Module:
    return adgen.compile(SOURCE)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", CASES)
def test_on_the_host(kernels: Module, name: str) -> None:
    seed = secrets.randbits(31)
    for _ in range(3):  # blocks and threads meet in another order each time
        check(kernel_of(kernels, name), name, list(arguments(name, np.random.default_rng(seed))), seed)


@pytest.mark.usefixtures("toolchain")
def test_structs(kernels: Module) -> None:
    rng = np.random.default_rng()
    record = np.dtype([("value", np.float32, 9)])
    x, y = np.zeros(3, record), np.zeros(3, record)
    x["value"] = rng.uniform(0.5, 1.1, (3, 9))
    kernel_of(kernels, "records").check[3, 16](x, y)
    arrays = {"x": rng.uniform(0.5, 1.1, 5).astype(np.float32), "y": np.zeros(4, np.float32)}
    kernel_of(kernels, "members").check[4, 16](arrays)
