"""Gradients that keep numbers in shared memory, in blocks of every shape that their primal may be launched with."""

from __future__ import annotations

from pathlib import Path

import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

cupy = pytest.importorskip("cupy")
numpy = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(Path(__file__).with_name("spilling.cu"), target="cuda")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize(
    ("largest", "block"),
    [(64, 64), (64, (32, 2)), (64, (4, 4, 4)), (64, (7, 3)), (64, 40), (64, 1), (80, 80), (80, (16, 5)), (80, 33)],
)
def test_every_thread_has_its_own(module: Module, largest: int, block: int | tuple[int, ...]) -> None:
    n, threads = 1500, int(numpy.prod(block))
    x = cupy.asarray(numpy.random.default_rng().uniform(-1, 1, 24 * n))
    kernel = module[f"rounds_in<{largest}>"]
    assert isinstance(kernel, adgen.Kernel)
    kernel.check[-(-n // threads), block](x, cupy.zeros(24 * n), n, seed=3)
