"""What `tests/openmp` checks of elements that several threads store to, and of sorted local arrays, on a GPU."""

from __future__ import annotations

import pytest
from openmp import test_moved as moved
from openmp import test_same_element as same

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

cupy = pytest.importorskip("cupy")
numpy = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def one_element() -> Module:
    return adgen.compile(same.SOURCE, target="cuda")


@pytest.fixture(scope="module")
def sorts() -> Module:
    return adgen.compile(moved.HERE / "moved.cu", target="cuda")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", same.CASES)
def test_one_thread_takes_the_cotangent(one_element: Module, name: str) -> None:
    drawn = same.arguments(name, numpy.random.default_rng())
    arrays = [each if isinstance(each, int) else cupy.asarray(each) for each in drawn]
    same.check(same.kernel_of(one_element, name), name, arrays, seed=1)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize(("name", "dtype", "size"), moved.instances("KERNELS"))
def test_cotangents_go_where_elements_came_from(sorts: Module, name: str, dtype: str, size: int) -> None:
    x, seed = moved.draw(dtype, size)
    kernel = same.kernel_of(sorts, name)
    kernel.check[2, 32](cupy.asarray(x), cupy.zeros(len(x), x.dtype), len(x), seed=seed)
