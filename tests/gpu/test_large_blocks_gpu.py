"""A gradient with many registers is launched with every block that its primal may be launched with."""

from __future__ import annotations

from pathlib import Path

import pytest

import enzyme_driver as adgen
from enzyme_driver.errors import DeviceError
from enzyme_driver.runtime.module import Module

cupy = pytest.importorskip("cupy")
numpy = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(Path(__file__).with_name("large_blocks.cu"), target="cuda")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize(
    ("name", "block"), [*(("any_block", threads) for threads in (32, 256, 384, 512, 768, 1024)), ("small_block", 64)]
)
def test_every_block_can_be_launched(module: Module, name: str, block: int) -> None:
    n = 2048
    random = numpy.random.default_rng()
    x, w = cupy.asarray(random.uniform(-1, 1, n)), cupy.asarray(random.uniform(-0.5, 0.5, 24))
    kernel = module[name]
    assert isinstance(kernel, adgen.Kernel)
    launch, args = (-(-n // block), block), (n, x, w, cupy.zeros(n))
    try:
        kernel[launch](*args)
    except DeviceError as problem:
        pytest.skip(f"the primal takes no such block: {problem.reason}")
    kernel.check[launch](*args, seed=3)
