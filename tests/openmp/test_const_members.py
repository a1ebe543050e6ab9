"""Arrays in structs without a derivative: the others' are what they were, in all modes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.kernel import Kernel

SOURCE = Path(__file__).with_name("const_members.cu")
N, WHERE = 9, (1, 32)


def _compiled(*const: str, modes: tuple[str, ...] = ()) -> Kernel:
    return adgen.compile(SOURCE, kernel="energy", activity=dict.fromkeys(const, "const"), modes=modes)


def _drawn() -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng()
    cells, weights, x, y = rng.uniform(0.5, 1.5, (4, N))
    grid = {"cells": cells, "weights": weights, "scratch": np.zeros(N)}
    return {"n": N, "grid": grid, "x": x, "out": np.zeros(N), "scale": 1.5}, y


def _named(shadows: dict[str, Any], name: str = "d") -> dict[str, Any]:
    found = dict[str, Any]()
    for key, value in shadows.items():
        each = f"{name}.{key}"
        found |= _named(value, each) if isinstance(value, dict) else {each: value}
    return found


@pytest.mark.parametrize(
    ("const", "left"),
    [
        (("d.grid.cells",), {"d.grid.weights", "d.grid.scratch", "d.x", "d.out"}),
        (("d.grid.cells", "d.grid.scratch"), {"d.grid.weights", "d.x", "d.out"}),
        (("d.grid",), {"d.x", "d.out"}),
        (("d.grid.weights", "d.x"), {"d.grid.cells", "d.grid.scratch", "d.out"}),
    ],
)
def test_the_others_have_the_derivatives_that_they_had(const: tuple[str, ...], left: set[str]) -> None:
    data, y = _drawn()
    seed = np.random.default_rng().standard_normal(N)
    whole, fewer = (k.vjp[WHERE](data, y, cotangents={"d.out": seed}) for k in (_compiled(), _compiled(*const)))
    expected, found = _named(whole["d"]), _named(fewer["d"])
    assert found.keys() == left
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-12)
    np.testing.assert_allclose(fewer["y"], whole["y"], rtol=1e-12)


def test_finite_differences_and_tangents_agree() -> None:
    kernel = _compiled("d.grid.cells", "d.grid.scratch", modes=("forward", "second"))
    data, y = _drawn()
    kernel.check[WHERE](data, y)
    tangent = np.random.default_rng().standard_normal(N)
    got = kernel.jvp[WHERE](data, y, tangents={"d.x": tangent})
    step = 1e-6
    ends = []
    for sign in (1, -1):
        moved = {**data, "x": data["x"] + sign * step * tangent, "out": np.zeros(N)}
        kernel[WHERE](moved, y)
        ends.append(moved["out"])
    np.testing.assert_allclose(got["d.out"], (ends[0] - ends[1]) / (2 * step), rtol=1e-7, atol=1e-8)
    with pytest.raises(adgen.ArgumentError, match="no derivative is taken with respect to it"):
        kernel.jvp[WHERE](data, y, tangents={"d.grid.cells": tangent})
    second = kernel.hvp[WHERE](data, y, tangents={"d.x": tangent}, cotangents={"d.out": np.ones(N)}, wrt=("d.x",))
    slopes = [
        kernel.vjp[WHERE]({**data, "x": data["x"] + sign * step * tangent}, y, cotangents={"d.out": np.ones(N)})
        for sign in (1, -1)
    ]
    expected = (slopes[0]["d"]["x"] - slopes[1]["d"]["x"]) / (2 * step)
    np.testing.assert_allclose(second["d.x"], expected, rtol=1e-6, atol=1e-7)


def test_arrays_that_are_not_asked_for_have_none() -> None:
    data, y = _drawn()
    kernel = _compiled()
    seed = {"d.out": np.ones(N)}
    whole = kernel.vjp[WHERE](data, y, cotangents=seed)["d"]["x"]
    np.testing.assert_allclose(kernel.vjp[WHERE](data, y, cotangents=seed, wrt="d.x")["d.x"], whole, rtol=1e-12)
    assert kernel.narrower
    narrow = kernel.narrower("d.x")
    assert narrow
    assert narrow.signature["d"].const_members == (".grid.cells", ".grid.weights")


def test_what_cannot_be_followed_is_refused() -> None:
    with pytest.raises(adgen.RefusedError, match="'d' cannot have members that are const") as caught:
        adgen.compile(SOURCE, kernel="handed_on", activity={"d.x": "const"})
    assert caught.value.location
    assert caught.value.location.line > 0
