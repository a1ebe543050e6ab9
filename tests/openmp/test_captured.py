"""Numbers that parallel regions read by their address: constants have no derivative, all others have theirs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.backends.teams import threads
from enzyme_driver.runtime.call.accumulation import accumulation
from enzyme_driver.runtime.module import Module

FILE = Path(__file__).with_name("captured.cpp")
SIZE = 30

Make = Callable[[np.random.Generator], tuple[Any, ...]]


def some(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(0.5, 1, SIZE)


def flow(rng: np.random.Generator) -> dict[str, float]:
    return {"dt": 0.01, "dx": rng.uniform(0.4, 0.6), "nu": 0.2, "steps": 4, "edge": 1}


def grid(rng: np.random.Generator) -> dict[str, Any]:
    return {"u": some(rng), "v": some(rng), "k": some(rng), "n": SIZE, "dt": 0.1, "dx": rng.uniform(0.8, 1)}


ARGUMENTS: dict[str, Make] = {
    "spread": lambda rng: (some(rng), SIZE, 4, 0.1),
    "burgers": lambda rng: (some(rng), some(rng), SIZE, flow(rng)),
    "viscous": lambda rng: (some(rng), some(rng), SIZE, flow(rng)),
    "advance": lambda rng: (grid(rng), 3),
    "solve": lambda rng: (some(rng), SIZE, 4, 0.1, rng.uniform(0.8, 1)),
    "smooth": lambda rng: (some(rng), some(rng), SIZE, rng.uniform(1, 2)),
    "rescaled": lambda rng: (some(rng), SIZE, rng.uniform(1, 2)),
    "pairs": lambda rng: (some(rng), some(rng), some(rng), 3),
}
NUMBERS = {"spread": ("rate",), "burgers": ("p",), "solve": ("dt", "dx"), "smooth": ("sigma",), "rescaled": ("factor",)}


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE)


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("team", [1, 2, 7])
def test_constants_are_left_out_and_all_else_is_not(module: Module, name: str, team: int) -> None:
    rng = np.random.default_rng(team)
    with threads(team):
        module[name].check(*ARGUMENTS[name](rng), seed=team)


@pytest.mark.parametrize("name", ["advance", "burgers", "pairs"])
@pytest.mark.parametrize("way", ["private", "atomic", "deterministic"])
def test_shadows_in_structs_may_have_copies(module: Module, name: str, way: str) -> None:
    with threads(3), accumulation(way):
        module[name].check(*ARGUMENTS[name](np.random.default_rng(6)))


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_are_active_have_their_derivatives(name: str) -> None:
    active = adgen.compile(FILE, function=name, activity=dict.fromkeys(NUMBERS[name], "active"))
    with threads(2):
        active.check(*ARGUMENTS[name](np.random.default_rng(3)))


@pytest.mark.parametrize("name", ["spread", "solve", "smooth", "rescaled"])
def test_numbers_that_are_const_have_tangents(name: str) -> None:
    """Where tangents are asked for, any number may have one."""
    function = adgen.compile(FILE, function=name, modes="forward")
    args = ARGUMENTS[name](np.random.default_rng(4))
    number = NUMBERS[name][0]
    at = [p.name for p in function.signature.parameters].index(number)
    step = 1e-6

    def result(change: float) -> np.ndarray:
        given = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
        given[at] += change
        found = function(*given)
        return np.asarray(given[1] if name == "smooth" else found)

    tangent = function.jvp(*args, tangents={number: 1.0})
    expected = (result(step) - result(-step)) / (2 * step)
    np.testing.assert_allclose(tangent["y" if name == "smooth" else "return"], expected, rtol=1e-6, atol=1e-8)


def test_a_struct_behind_a_const_reference_may_be_a_dict(module: Module) -> None:
    u, v, n, given = ARGUMENTS["viscous"](np.random.default_rng(9))
    layout = np.dtype([("dt", "f8"), ("dx", "f8"), ("nu", "f8"), ("steps", "i4"), ("edge", "i4")], align=True)
    array = np.array([tuple(given[name] for name in layout.names or ())], layout)
    ones = {"u": np.ones(n), "v": np.ones(n)}
    by_dict, by_array = (module["viscous"].vjp(u, v, n, p, cotangents=ones) for p in (given, array))
    for name in ("dt", "dx", "nu"):
        assert by_dict["p"][name][0] == by_array["p"][name][0] != 0
    for wrong, what in (({**given, "dy": 1.0}, "no member"), ({"dt": 0.1}, "missing"), ({**given, "nu": "x"}, "nu")):
        with pytest.raises(adgen.ArgumentError, match=what):
            module["viscous"](u, v, n, wrong)
