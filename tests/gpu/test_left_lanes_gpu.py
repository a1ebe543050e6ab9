"""What `tests/openmp` checks of lanes that have returned, on a GPU, where waiting for them would not end."""

from __future__ import annotations

import numpy as np
import pytest
from openmp import test_left_lanes as left

import enzyme_driver as adgen
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.module import Module

cupy = pytest.importorskip("cupy")


@pytest.fixture(scope="module")
def module(toolchain: object) -> Module:
    del toolchain
    return adgen.compile(left.SOURCE, target="cuda")


@pytest.mark.parametrize(("name", "launch"), left.LAUNCHES)
def test_gradient(module: Module, name: str, launch: left.Launch) -> None:
    drawn = left.arguments(name, launch)
    given = [cupy.asarray(each) if isinstance(each, np.ndarray) else each for each in drawn]
    kernel = module[name]
    assert isinstance(kernel, Kernel)
    kernel.check[launch[:2]](*given)
