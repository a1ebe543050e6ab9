"""C++ functions that return structs: their cotangents are structs, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openmp.compile_support import function

import enzyme_driver as adgen
from enzyme_driver.errors import ArgumentError, RefusedError
from enzyme_driver.runtime.module import Module

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("returned.cpp")
N = 7
Rng = np.random.Generator

CALLS: dict[str, Callable[[Rng], tuple[Any, ...]]] = {
    "cartesian": lambda rng: tuple(rng.uniform(0.5, 2, 2)),
    "mean": lambda rng: (rng.standard_normal(3 * N).astype(np.float32), N),
    "largest": lambda rng: (rng.permutation(np.linspace(0.5, 2, N)).astype(np.float32), N),
    "power": lambda rng: (rng.standard_normal(4), 0.7, 3),
    "range": lambda rng: (rng.uniform(-1, 1, N), N),
    "rotated": lambda rng: (complex(*rng.standard_normal(2)), 0.3),
    "both": lambda rng: (rng.standard_normal(N), np.zeros(N), N),
}


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE, activity=dict.fromkeys(("r", "z", "phi"), "active"), modes=["forward", "second"])


@pytest.mark.parametrize("name", CALLS)
def test_gradient(module: Module, name: str) -> None:
    """Also of dual numbers, and against forward mode."""
    function(module, name).check(*CALLS[name](np.random.default_rng()))


def test_what_is_returned(module: Module) -> None:
    x, y = function(module, "cartesian")(2.0, 0.5)
    assert (x, y) == pytest.approx((2 * np.cos(0.5), 2 * np.sin(0.5)))
    found = function(module, "largest")(np.array([0.5, -2, 1], np.float32), 3)
    assert (found["value"], found["at"]) == (4, 1)
    a = np.array([1.0, 2, 3, 4])
    made = function(module, "power")(a, 1.0, 3)
    np.testing.assert_allclose(made["m"].reshape(2, 2), np.linalg.matrix_power(a.reshape(2, 2), 3))
    assert made["steps"] == 3
    assert function(module, "rotated")(1 + 2j, 0.0) == (1 + 2j) ** 2
    prepared = function(module, "cartesian").prepare(1.0, 0.0)
    assert tuple(prepared()) == (1, 0)


def test_cotangents_are_dicts_tuples_and_structs(module: Module) -> None:
    cartesian = function(module, "cartesian")
    r, phi, u, v = np.random.default_rng().uniform(0.5, 2, 4)
    wanted = {"r": u * np.cos(phi) + v * np.sin(phi), "phi": r * (v * np.cos(phi) - u * np.sin(phi))}
    record = np.array((u, v), [("first", np.float64), ("second", np.float64)])
    for cotangent in ({"first": u, "second": v}, (u, v), record[()], record.reshape(1)):
        found = cartesian.vjp(r, phi, cotangent=cotangent)
        assert {name: float(value) for name, value in found.items()} == pytest.approx(wanted)
    assert cartesian.vjp(r, phi, cotangent={"first": u})["r"] == pytest.approx(u * np.cos(phi))
    assert cartesian.vjp(r, phi, cotangents={"return": (u, v)}, wrt="r")["r"] == pytest.approx(wanted["r"])
    each = cartesian.vjp(r, phi, cotangent=[(u, 0), (0, v)], directions=2)["r"]
    assert each == pytest.approx([u * np.cos(phi), v * np.sin(phi)])
    shadows = {"r": np.ones(1), "phi": np.zeros(1)}
    cartesian.gradient(r, phi, shadows=shadows, cotangent=(u, v))
    prepared = cartesian.prepare_gradient(r, phi, shadows=shadows, cotangent=(u, v))
    prepared()
    prepared()
    assert shadows["r"][0] == pytest.approx(1 + 3 * wanted["r"])


def test_complex_numbers(module: Module) -> None:
    rng = np.random.default_rng()
    z, w = rng.standard_normal(2) + 1j * rng.standard_normal(2)
    found = function(module, "rotated").vjp(z, 0.0, cotangent=w)["z"]
    derivative = np.conj(2 * z) * w  # of real and imaginary part
    assert found.view(np.complex128).item() == pytest.approx(derivative)


def test_second_derivatives_and_tangents(module: Module) -> None:
    cartesian = function(module, "cartesian")
    r, phi = 1.5, 0.4
    carried = cartesian.jvp(r, phi, tangents={"phi": 1.0})["return"]
    assert tuple(carried) == pytest.approx((-r * np.sin(phi), r * np.cos(phi)))
    several = cartesian.jvp(r, phi, tangents={"r": [1.0, 0.0, 2.0], "phi": [0.0, 1.0, 0.0]}, directions=3)["return"]
    assert several["first"].ravel() == pytest.approx([np.cos(phi), -r * np.sin(phi), 2 * np.cos(phi)])
    twice = cartesian.hvp(r, phi, tangents={"phi": 1.0}, cotangent={"first": 1.0})
    assert (twice["r"], twice["phi"]) == pytest.approx((-np.sin(phi), -r * np.cos(phi)))


def test_several_cotangents_of_a_struct_that_ends_before_its_last_byte(module: Module) -> None:
    power, a = function(module, "power"), np.arange(1.0, 5)
    each = [{"m": [[1, 0], [0, 0]]}, {"m": [[0, 1], [0, 0]]}]
    rows = power.vjp(a, 1.0, 2, cotangent=each, directions=2, wrt="a")["a"]
    np.testing.assert_allclose(rows, [[2, 3, 2, 0], [2, 5, 0, 2]])


def test_beside_an_array_that_is_written(module: Module) -> None:
    x, y = np.random.default_rng().standard_normal(N), np.zeros(N)
    both = function(module, "both")
    found = both.vjp(x, y, N, cotangents={"y": np.ones(N)}, cotangent={"weight": 2.0, "inner": {"z": 3.0}})
    np.testing.assert_allclose(found["x"], 2 * x + 8 * x**3 + 3)
    np.testing.assert_allclose(both.vjp(x, y, N, cotangents={"y": np.ones(N)})["x"], 2 * x)


def test_what_cannot_be_said(module: Module) -> None:
    cartesian = function(module, "cartesian")
    with pytest.raises(ArgumentError, match=r"cotangent 'return'.*got float"):
        cartesian.vjp(1.0, 2.0)
    with pytest.raises(ArgumentError, match="no member 'frist'") as raised:
        cartesian.vjp(1.0, 2.0, cotangent={"frist": 1.0})
    assert "first" in str(raised.value.hint)
    with pytest.raises(ArgumentError, match=r"takes 2 arguments, got 1"):
        cartesian(1.0)
    with adgen.Tape(), pytest.raises(RefusedError, match="a tape cannot follow"):
        cartesian(1.0, 2.0)
    assert str(cartesian.signature) == "cartesian(float64 r, float64 phi) -> pair<double, double>"


def test_what_is_refused(module: Module) -> None:
    with pytest.raises(RefusedError, match="no parameter to differentiate"):
        function(module, "bounds").vjp(3)
    assert tuple(function(module, "bounds")(3)) == (-3, 3)
    assert tuple(function(module, "counted")(np.array([1.0, -1, 2]), 3)) == (2, 1)
    assert not function(module, "counted").vjp(np.ones(3), 3)["x"].any()
    for name, what in (("shifted", r"View with pointers"), ("rows", r"vector<.*double")):
        with pytest.raises(RefusedError, match=rf"{name} returns .*{what}.* cannot be handed to Python"):
            function(module, name)(np.zeros(3), 3)
