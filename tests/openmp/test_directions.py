"""Several directions at once, in both modes: each is what a call with it alone gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.call.arguments import Arguments

pytestmark = pytest.mark.usefixtures("toolchain")

FOLDER = Path(__file__).parent
COUNT = 3
LAYOUT = [("a", "f8"), ("b", "f8")]
WEIGHTS = np.array((0.3, 1.2), LAYOUT)

Named = dict[str, Any]


@pytest.fixture(scope="module")
def mixed() -> adgen.Kernel:
    """As in test_forward.py, so that it is compiled once."""
    made = adgen.compile(FOLDER / "tangents.cu", activity={"w": "active", "gain": "active"}, modes=["forward"])
    made.mixed.variables["gain"] = 0.7
    kernel: adgen.Kernel = made.mixed
    return kernel


@pytest.fixture(scope="module")
def energy() -> adgen.Function:
    function: adgen.Function = adgen.compile(FOLDER / "tangents.cpp", modes=["forward"]).energy
    return function


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng()


def arguments(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.uniform(-2, 2, 20), rng.standard_normal(20), rng.standard_normal(1), 1.3, WEIGHTS, 20


def assert_stacked(found: Named, alone: list[Named]) -> None:
    assert found.keys() == alone[0].keys()
    for name, stacked in found.items():
        np.testing.assert_allclose(
            np.asarray(stacked).tolist(), np.asarray([np.asarray(one[name]) for one in alone]).tolist(), rtol=1e-12
        )


def test_tangents(mixed: adgen.Kernel, rng: np.random.Generator) -> None:
    args = arguments(rng)
    x, scale = rng.standard_normal((COUNT, 20)), [0.5, -1.0, 2.0]
    weights, gain = np.zeros(COUNT, LAYOUT), rng.standard_normal(COUNT)
    weights["a"] = rng.standard_normal(COUNT)
    together = {"x": x, "scale": scale, "w": weights, "gain": gain}
    found = mixed.jvp[1, 32](*args, tangents=together, directions=COUNT)
    alone = [
        mixed.jvp[1, 32](*args, tangents={name: np.asarray(each)[i] for name, each in together.items()})
        for i in range(COUNT)
    ]
    assert found["y"].shape == (COUNT, 20)
    assert_stacked({"y": found["y"], "sum": found["sum"][:, 0]}, [{"y": e["y"], "sum": e["sum"][0]} for e in alone])
    np.testing.assert_array_equal(found["gain"], gain)


def test_cotangents(mixed: adgen.Kernel, rng: np.random.Generator) -> None:
    args = arguments(rng)
    before = [np.copy(value) for value in args[:3]]
    together = {"y": rng.standard_normal((COUNT, 20)), "sum": rng.standard_normal((COUNT, 1))}
    found = mixed.vjp[1, 32](*args, cotangents=together, wrt=["x", "y", "w", "gain"], directions=COUNT)
    alone = [
        mixed.vjp[1, 32](*args, cotangents={k: v[i] for k, v in together.items()}, wrt=["x", "y", "w", "gain"])
        for i in range(COUNT)
    ]
    for name in ("x", "y", "gain"):
        np.testing.assert_allclose(found[name], [one[name] for one in alone], rtol=1e-10, atol=1e-12)
    for member in ("a", "b"):
        np.testing.assert_allclose(found["w"][member], [one["w"][member] for one in alone], rtol=1e-10)
    for value, old in zip(args[:3], before, strict=True):
        np.testing.assert_array_equal(value, old)


def test_a_function_has_a_cotangent_a_direction(energy: adgen.Function, rng: np.random.Generator) -> None:
    args = (rng.standard_normal(15), np.zeros(15), 1.7, 15)
    cotangents = {"y": rng.standard_normal((2, 15))}
    found = energy.vjp(*args, cotangent=[1.0, -3.0], cotangents=cotangents, directions=2, wrt="x")
    for i, cotangent in enumerate((1.0, -3.0)):
        one = energy.vjp(*args, cotangent=cotangent, cotangents={"y": cotangents["y"][i]}, wrt="x")
        np.testing.assert_allclose(found["x"][i], one["x"], rtol=1e-12)
    tangents = {"x": rng.standard_normal((2, 15))}
    pushed = energy.jvp(*args, tangents=tangents, directions=2)
    for i in range(2):
        one = energy.jvp(*args, tangents={"x": tangents["x"][i]})
        assert pushed["return"][i] == pytest.approx(one["return"], rel=1e-12)
        np.testing.assert_allclose(pushed["y"][i], one["y"], rtol=1e-12)


def test_a_whole_jacobian(energy: adgen.Function, rng: np.random.Generator) -> None:
    args = (rng.standard_normal(5), np.zeros(5), 1.7, 5)
    forward = energy.jvp(*args, tangents={"x": np.eye(5)}, directions=5)
    reverse = energy.vjp(*args, cotangent=0.0, cotangents={"y": np.eye(5)}, wrt="x", directions=5)
    np.testing.assert_allclose(forward["y"].T, reverse["x"], rtol=1e-10, atol=1e-12)


def test_arguments_are_checked_once_for_all_directions(
    energy: adgen.Function, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    args, checked = (rng.standard_normal(5), np.zeros(5), 1.7, 5), []
    forward = Arguments.forward

    def counted(self: Arguments, values: Any, tangents: Any) -> Any:  # noqa: ANN401
        checked.append(len(values))
        return forward(self, values, tangents)

    monkeypatch.setattr(Arguments, "forward", counted)
    energy.jvp(*args, tangents={"x": np.eye(5)}, directions=5)
    assert checked == [4]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tangents": {"x": np.ones((2, 20))}, "directions": 3}, r"tangent 'x': its first axis must have 3 elements"),
        ({"tangents": {"x": np.ones(20)}, "directions": 20}, r"tangent 'x' of mixed.*got numpy.float64"),
        ({"tangents": {"scale": 1.0}, "directions": 2}, "tangent 'scale' of mixed.*got float"),
        ({"tangents": {"scale": [1.0]}, "directions": 2}, "tangent 'scale': its first axis must have 2 elements"),
        ({"tangents": {}, "directions": 0}, "directions=0 is not a number of directions"),
    ],
)
def test_directions_that_do_not_fit(mixed: adgen.Kernel, options: Named, said: str) -> None:
    with pytest.raises(adgen.ArgumentError, match=said):
        mixed.jvp[1, 32](*arguments(np.random.default_rng(0)), **options)


def test_as_many_cotangents_of_the_result_as_directions(energy: adgen.Function) -> None:
    args = (np.ones(3), np.ones(3), 1.0, 3)
    with pytest.raises(adgen.ArgumentError, match="cotangent: 3 numbers for 2 directions"):
        energy.vjp(*args, cotangent=[1, 2, 3], directions=2)
