"""What `tests/openmp` checks of loops that select one of their numbers, on a GPU."""

from __future__ import annotations

import pytest
from openmp import test_selections as selections
from openmp.compile_support import kernel

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

cupy = pytest.importorskip("cupy")
numpy = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(selections.HERE / "selections.cu", target="cuda")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", [*selections.SELECTED, *selections.KEPT])
def test_the_winner_alone_is_reversed(module: Module, name: str) -> None:
    drawn = selections.arguments(name, numpy.random.default_rng())
    arrays = [cupy.asarray(each) if isinstance(each, numpy.ndarray) else each for each in drawn]
    result = kernel(module, name).check[2, 32](*arrays, seed=5)
    assert any(parameter.difference for parameter in result.parameters)


@pytest.mark.usefixtures("toolchain")
def test_zeros_are_not_added_but_what_is_not_a_number_is(module: Module) -> None:
    count, candidates, *given, y, which = selections.arguments("nearest", numpy.random.default_rng(3))
    arrays = [cupy.asarray(each) for each in (*given, y, which)]
    nearest = kernel(module, "nearest")
    seed = numpy.zeros(count)
    none = nearest.vjp[2, 32](count, candidates, *arrays, cotangents={"y": cupy.asarray(seed)})
    assert not any(bool(cupy.any(each)) for each in none.values())
    seed[2] = numpy.nan
    some = nearest.vjp[2, 32](count, candidates, *arrays, cotangents={"y": cupy.asarray(seed)})
    assert int(cupy.isnan(some["q"]).any(axis=1).sum()) == 1
