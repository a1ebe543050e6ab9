"""Local arrays whose elements are sorted, shifted, swapped and linked: cotangents go where elements came from."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

HERE = Path(__file__).parent
_ROWS = 33
_INSTANCE = re.compile(r"F\((\w+), (\w+), (\d+)\)")


def instances(macro: str) -> list[tuple[str, str, int]]:
    """Name, type and size of what `moved.h` lists under a macro."""
    listed = (HERE / "moved.h").read_text("utf-8").split(f"#define {macro}(F)")[1].split("#define")[0]
    return [(f"{name}_of_{size}", dtype, int(size)) for name, dtype, size in _INSTANCE.findall(listed)]


@pytest.fixture(scope="module")
def kernels() -> Module:
    return adgen.compile(HERE / "moved.cu")


@pytest.fixture(scope="module")
def functions() -> Module:
    return adgen.compile(HERE / "moved.cpp")


def draw(dtype: str, size: int) -> tuple[np.ndarray, int]:
    seed = zlib.crc32(f"{dtype} {size}".encode())  # always the same: by other numbers some are near a kink
    kind = np.float32 if dtype == "float" else np.float64
    rng = np.random.default_rng(seed)
    # Far enough from each other that a finite difference changes no order.
    places = rng.permuted(np.tile(np.arange(size), (_ROWS, 1)), axis=1) + rng.uniform(0.2, 0.8, (_ROWS, size))
    return (places / size * 2.5 - 1).astype(kind), seed


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize(("name", "dtype", "size"), instances("KERNELS"))
def test_kernel(kernels: Module, name: str, dtype: str, size: int) -> None:
    x, seed = draw(dtype, size)
    kernel = kernels[name]
    assert isinstance(kernel, adgen.Kernel)
    kernel.check[2, 32](x, np.zeros(_ROWS, x.dtype), _ROWS, seed=seed)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize(("name", "dtype", "size"), instances("FUNCTIONS"))
def test_function(functions: Module, name: str, dtype: str, size: int) -> None:
    x, seed = draw(dtype, size)
    function = functions[name]
    assert isinstance(function, adgen.Function)
    function.check(x, np.zeros(_ROWS, x.dtype), _ROWS, seed=seed)
