"""Arrays that parallel regions overwrite: the reverse sweep puts back what was there; the caller finds the results."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openmp.compile_support import compiled_without

import enzyme_driver as adgen
from enzyme_driver import pipeline, request
from enzyme_driver.runtime.backends.teams import threads
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.module import Module
from enzyme_driver.settings import Settings

FILE = Path(__file__).with_name("overwritten.cpp")
NAMES = ("swarm", "waves", "edges", "bodies")
TEAMS = (1, 2, 7)


def swarm(rng: np.random.Generator, n: int = 40) -> tuple[Any, ...]:
    return rng.uniform(-1, 1, n), rng.uniform(0.5, 1, n), rng.integers(0, n, (n, 3)).astype(np.int32), n, 4, 0.1


def waves(rng: np.random.Generator, n: int = 33) -> tuple[Any, ...]:
    return (*rng.uniform(0.5, 1, (2, n)).astype(np.float32), n, 3)


def edges(rng: np.random.Generator, n: int = 20) -> tuple[Any, ...]:
    return (*rng.uniform(0.5, 1, (2, n)), n, 3)


def bodies(rng: np.random.Generator, n: int = 30) -> tuple[Any, ...]:
    sides = rng.integers(-n, 4 * n, (n, 4)).astype(np.int32)
    return rng.uniform(-1, 1, n), rng.uniform(1, 2, n), sides, n, 5, 0.1


Make = Callable[[np.random.Generator], tuple[Any, ...]]
ARGUMENTS: dict[str, Make] = {"swarm": swarm, "waves": waves, "edges": edges, "bodies": bodies}


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE)


@pytest.fixture(scope="module")
def without() -> Module:
    return compiled_without("restore-overwritten,hold-sums", FILE)


def left_by(function: Kernel | Function, name: str, seed: int = 5) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What the gradient leaves in the arrays, and in their shadows."""
    assert isinstance(function, Function)
    rng = np.random.default_rng(seed)
    args = ARGUMENTS[name](rng)
    shadowed = [p.name for p in function.signature if p.activity == "duplicated"]
    by_name = dict(zip((p.name for p in function.signature), args, strict=True))
    shadows = {each: rng.standard_normal(by_name[each].shape).astype(by_name[each].dtype) for each in shadowed}
    function.gradient(*args, shadows=shadows)
    return [by_name[each] for each in shadowed], list(shadows.values())


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("team", TEAMS)
@pytest.mark.parametrize("name", NAMES)
def test_gradient(module: Module, name: str, team: int) -> None:
    with threads(team):
        module[name].check(*ARGUMENTS[name](np.random.default_rng(3)))


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("team", TEAMS)
@pytest.mark.parametrize("name", NAMES)
def test_the_arrays_hold_what_the_function_leaves(module: Module, without: Module, name: str, team: int) -> None:
    expected = ARGUMENTS[name](np.random.default_rng(5))
    module[name](*expected)
    with threads(team):
        arrays, shadows = left_by(module[name], name)
    _, kept = left_by(without[name], name)
    for array, wanted in zip(arrays, expected, strict=False):
        np.testing.assert_array_equal(array, wanted)
    for shadow, wanted in zip(shadows, kept, strict=True):
        np.testing.assert_allclose(shadow, wanted, rtol=1e-4 if shadow.dtype == np.float32 else 1e-11)


def _pages_taken() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


@pytest.mark.usefixtures("toolchain")
def test_copies_of_shadows_are_memory_of_gradients_before(module: Module) -> None:
    function = module["swarm"]
    assert isinstance(function, Function)
    args = swarm(np.random.default_rng(2), n=200_000)
    shadows = {name: np.zeros_like(arg) for name, arg in zip("xv", args, strict=False)}
    with threads(2):
        for _ in range(3):
            function.gradient(*args, shadows=shadows)
        before = _pages_taken()
        for _ in range(3):
            function.gradient(*args, shadows=shadows)
        assert _pages_taken() - before < 3 * shadows["x"].nbytes / 4096


@pytest.mark.parametrize(("name", "put_back"), [("swarm", 2), ("waves", 2), ("edges", 1), ("bodies", 0)])
def test_which_arrays_are_put_back(name: str, put_back: int) -> None:
    text = pipeline.emit(request.new(FILE, names=[name]), "prepared", settings=Settings.from_environment())
    assert text.count('ptr "adgen-restored"') == put_back
