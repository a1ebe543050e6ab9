"""Structs of an integer and a number in shared memory have a derivative also where they are copied as a whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import kernel

import enzyme_driver as adgen

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("shared_structs.cu")
N = 32


@pytest.fixture(scope="module")
def module() -> adgen.Module:
    return adgen.compile(FILE)


@pytest.mark.parametrize("name", ["largest", "largest_of_rows", "sorted"])
def test_gradients(module: adgen.Module, name: str) -> None:
    dtype = "f8" if name == "largest_of_rows" else "f4"
    x = np.random.default_rng(7).permutation(np.linspace(-1, 1, N)).astype(dtype)
    kernel(module, name).check[1, N](x, np.zeros_like(x))
