"""Tangents along several directions at once: each is what one direction gives, and what dual numbers give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver import cache, request
from enzyme_driver.model import TargetEntry
from enzyme_driver.runtime import module
from enzyme_driver.runtime.transforms.functional import FEWEST
from enzyme_driver.settings import Settings
from enzyme_driver.targets.openmp import DIRECTIONS

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).parent / "together.cpp"
COUNT = 2 * DIRECTIONS + FEWEST - 1
"""Two calls with several, and directions that are left alone."""

ACTIVITY = {"options": "active", "scale": "active", "fixed": "const"}
OPTIONS = np.dtype([("rate", "f8"), ("steps", "i4"), ("bias", "f4")])
N = 7

Rng = np.random.Generator
Arguments = dict[str, Any]


def relax(rng: Rng) -> tuple[tuple[Any, ...], Arguments]:
    args = (rng.standard_normal(N), rng.standard_normal(N), np.array((0.3, 3, 1.5), OPTIONS), 1.2, N)
    options = np.zeros(COUNT, OPTIONS)
    options["rate"], options["bias"] = rng.standard_normal(COUNT), rng.standard_normal(COUNT)
    x, target = rng.standard_normal((2, COUNT, N))
    return args, {"x": x, "target": target, "options": options, "scale": rng.standard_normal(COUNT)}


def blend(rng: Rng) -> tuple[tuple[Any, ...], Arguments]:
    arrays = {"x": rng.uniform(0.5, 1, N), "weights": rng.standard_normal(N), "n": N}
    x, weights = rng.standard_normal((2, COUNT, N))
    return (arrays, rng.standard_normal(N), np.zeros(N)), {"arrays.x": x, "arrays.weights": weights}


def team(rng: Rng) -> tuple[tuple[Any, ...], Arguments]:
    x, y = rng.uniform(0.5, 1, N).astype(np.float32), np.zeros(N, np.float32)
    return (x, y, N), {"x": rng.standard_normal((COUNT, N)).astype(np.float32)}


def special(rng: Rng) -> tuple[tuple[Any, ...], Arguments]:
    return (rng.uniform(1, 3, N), np.zeros(N), N), {"x": rng.standard_normal((COUNT, N))}


CASES: tuple[Callable[[Rng], tuple[tuple[Any, ...], Arguments]], ...] = (relax, blend, team, special)


@pytest.fixture(scope="module")
def functions() -> adgen.Module:
    return adgen.compile(FILE, activity=ACTIVITY, modes=["forward"])


@pytest.fixture(scope="module")
def witness() -> adgen.Module:
    wanted = replace(request.new(FILE, targets=["openmp"], activity=ACTIVITY), witness="duals")
    return module.load(cache.build(wanted, settings=Settings.from_environment(), use_cache=False), "openmp")


def forward(function: Any) -> TargetEntry:  # noqa: ANN401  (a Function, once mypy knows)
    entry: TargetEntry = function._entry.forward["openmp"]
    return entry


def one_by_one(function: Any, args: tuple[Any, ...], tangents: Arguments) -> Arguments:  # noqa: ANN401
    alone = [function.jvp(*args, tangents={k: v[i] for k, v in tangents.items()}) for i in range(COUNT)]
    return {name: np.array([each[name] for each in alone]) for name in alone[0] if alone[0][name] is not None}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_several_are_what_each_is_alone(functions: adgen.Module, witness: adgen.Module, case: Any) -> None:  # noqa: ANN401
    args, tangents = case(np.random.default_rng())
    function = functions[case.__name__]
    assert forward(function).directions == DIRECTIONS
    together = function.jvp(*args, tangents=tangents, directions=COUNT)
    close = 2e-4 if case is team else 1e-10
    for other in (function, witness[case.__name__]):
        for name, wanted in one_by_one(other, args, tangents).items():
            np.testing.assert_allclose(together[name], wanted, rtol=close, atol=close, err_msg=name)


def test_a_derivative_that_the_user_gives() -> None:
    """It is three times the right one, so that it is known to be the one that was taken."""
    function: Any = adgen.compile(FILE, function="ruled", derivatives={"steep": "gradient_of_steep"}, modes=["forward"])
    rng = np.random.default_rng()
    x, tangents = rng.standard_normal(N), rng.standard_normal((COUNT, N))
    assert forward(function).directions == DIRECTIONS
    slope = np.zeros(N)
    slope[:-1] += 6 * x[:-1] * x[1:]
    slope[1:] += 3 * x[:-1] ** 2
    found = function.jvp(x, N, tangents={"x": tangents}, directions=COUNT)
    np.testing.assert_allclose(found["return"], tangents @ slope, rtol=1e-10, atol=1e-10)


def test_a_variable_with_one_shadow_takes_one_direction_at_a_time(functions: adgen.Module) -> None:
    args, tangents = special(np.random.default_rng())
    function: Any = functions.remember
    assert forward(function).directions == 1
    found, alone = function.jvp(*args, tangents=tangents, directions=COUNT), one_by_one(function, args, tangents)
    np.testing.assert_array_equal(found["y"], alone["y"])
    reverse = function.vjp(*args, cotangents={"y": np.eye(N)}, wrt="x", directions=N)
    np.testing.assert_allclose(found["y"], tangents["x"] @ reverse["x"].T, rtol=1e-10, atol=1e-10)


def test_one_direction_at_a_time_where_several_were_not_compiled(functions: adgen.Module) -> None:
    args, tangents = special(np.random.default_rng(0))
    function: Any = functions.special
    alone: Any = type(function)(
        replace(function._entry, forward={"openmp": replace(forward(function), batch=None, directions=1)}),
        function._backend,
    )
    found, wanted = (each.jvp(*args, tangents=tangents, directions=COUNT) for each in (alone, function))
    for name in wanted:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-10)
