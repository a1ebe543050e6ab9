"""Integers counted by atomics in shared memory have no derivative, and the numbers beside them have theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import artifact

import enzyme_driver as adgen
from enzyme_driver.model import TARGETS
from enzyme_driver.runtime.kernel import Kernel

SOURCE = Path(__file__).with_name("counted.cu")
N = 120


@pytest.fixture(scope="module")
def module(toolchain: object) -> adgen.Module:
    del toolchain
    return adgen.compile(SOURCE)


@pytest.mark.parametrize("name", ["histogram", "ranked", "binned"])
def test_gradient(module: adgen.Module, name: str) -> None:
    kernel = module[name]
    assert isinstance(kernel, Kernel)
    x = (np.random.default_rng(2).integers(0, 64, N) / 64 + 0.008).astype(np.float32)  # a bin holds what a step reaches
    counts = () if name == "ranked" else (np.zeros(64, np.uint32 if name == "histogram" else np.int32),)
    kernel.check[2, 64, None, 512](x, np.zeros(N, np.float32), *counts, N)


@pytest.mark.usefixtures("toolchain")
def test_gpu_code_is_made() -> None:
    made = artifact(SOURCE)
    assert [entry.targets[target].gradient_refused for entry in made.entries for target in TARGETS] == [None] * 6
