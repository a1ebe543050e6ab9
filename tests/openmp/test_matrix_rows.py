"""Rows of matrices that belong to warps, blocks or threads: no atomics are needed, in the launches that allow it."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from openmp.compile_support import compiled_without

import enzyme_driver as adgen
from enzyme_driver.cli import adgen as adgen_command
from enzyme_driver.runtime.module import Module

SOURCE = Path(__file__).with_name("matrix_rows.cu")
Extent = int | tuple[int, ...]

BLOCKS: tuple[Extent, ...] = (64, 32, 96, 48, 20, (32, 2), (16, 4))
"""Whole warps of one dimension, and what the additions without atomics are not for."""

MARKED = {"normalise", "powers", "by_threads", "walks"}
NAMES = sorted(MARKED | {"all_warps", "overlapping", "differences", "from_anywhere"})


def arguments(name: str, rng: np.random.Generator, threads: int, columns: int) -> tuple[int, list[object]]:
    """A number of blocks, and what the kernel takes for it."""

    def numbers(*shape: int) -> np.ndarray:
        return rng.uniform(0.5, 1.5, shape)

    warps, blocks = -(-threads // 32), 3
    if name == "normalise":
        rows = blocks * warps - 1
        return blocks, [numbers(rows, columns), numbers(columns), np.zeros((rows, columns)), rows, columns]
    if name == "powers":
        shape = {"rows": blocks, "columns": columns}
        return blocks, [numbers(blocks, columns), np.zeros((blocks, columns)), np.zeros((blocks, columns)), shape]
    if name == "by_threads":
        rows = blocks * threads - 5
        return blocks, [numbers(rows, columns), np.zeros(rows), rows, columns]
    if name == "from_anywhere":
        rows = blocks * threads
        begins = rng.integers(-columns, 1, rows).astype(np.int32)
        begins[0] = 0
        return blocks, [numbers(rows, columns), begins, np.zeros(rows), rows, columns]
    if name == "walks":
        rows = 2 * blocks * warps + 1
        return blocks, [numbers(rows, columns, 3), np.zeros((rows, columns)), rows, columns]
    if name == "all_warps":
        return blocks, [numbers(blocks, columns), np.zeros(blocks * threads), columns]
    if name == "overlapping":
        apart = max(columns // 2, 1)
        return blocks, [numbers(blocks * columns), np.zeros((blocks, columns)), columns, apart]
    return blocks, [numbers(blocks, columns), np.zeros((blocks, columns)), columns]


@pytest.fixture(scope="module")
def kernels() -> Module:
    return adgen.compile(SOURCE)


@pytest.fixture(scope="module")
def plain() -> Module:
    return compiled_without("mark-row-owners", SOURCE)


def _kernel(module: Module, name: str) -> adgen.Kernel:
    found = module[name]
    assert isinstance(found, adgen.Kernel)
    return found


def _launches(name: str) -> list[Extent]:
    """Without barriers that count on whole warps, blocks of any shape."""
    return [64, 32, 96] if name == "normalise" else [32, 64] if name == "walks" else list(BLOCKS)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("columns", [1, 7, 40, 130])
@pytest.mark.parametrize("name", NAMES)
def test_gradient(kernels: Module, plain: Module, name: str, columns: int) -> None:
    seed = secrets.randbits(31)
    rng = np.random.default_rng(seed)
    for block in _launches(name):
        grid, args = arguments(name, rng, int(np.prod(block)), columns)
        kernel, other = _kernel(kernels, name), _kernel(plain, name)
        weights = {"y": rng.standard_normal(np.asarray(args[kernel.signature.names.index("y")]).shape)}
        found = kernel.vjp[grid, block](*args, cotangents=weights)
        wanted = other.vjp[grid, block](*args, cotangents=weights)
        for parameter, value in wanted.items():
            np.testing.assert_allclose(found[parameter], value, rtol=1e-12, atol=1e-12, err_msg=f"{block}, {seed}")
        if not isinstance(block, tuple):
            kernel.check[grid, block](*args, seed=seed)


@pytest.mark.usefixtures("toolchain")
def test_only_those_are_marked() -> None:
    """By the IR behind the pass."""
    words = ("compile", str(SOURCE), "-t", "openmp", "--print-after", "adgen-mark-row-owners")
    text = CliRunner().invoke(adgen_command, words).stdout
    found = re.findall(r"@adgen_gradient__Z(\d+)(\w+)\((.*)", text)
    assert {name[: int(length)] for length, name, rest in found if "owned-in-rows" in rest} == MARKED
    assert {name[: int(length)] for length, name, _ in found} == set(NAMES)
