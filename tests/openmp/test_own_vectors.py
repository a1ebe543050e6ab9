"""C++ functions that return vectors, change their size, or take their memory away: elements are copied."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.errors import ArgumentError, PrimalError, RefusedError
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.module import Module

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("own_vectors.cpp")
N = 6
Rng = np.random.Generator


def _one(rng: Rng) -> tuple[Any, ...]:
    return (rng.standard_normal(N),)


def _two(rng: Rng) -> tuple[Any, ...]:
    return rng.standard_normal(N), rng.standard_normal(N)


MARKED = np.dtype([("value", np.float64), ("at", np.int32), ("root", np.float32)])


def _marks(rng: Rng) -> np.ndarray[Any, Any]:
    marks = np.zeros(N, MARKED)
    marks["value"], marks["root"] = rng.uniform(0.5, 2, (2, N))
    return marks


CALLS: dict[str, Callable[[Rng], tuple[Any, ...]]] = {
    "scaled": lambda rng: (rng.standard_normal(N), 0.7),
    "positive": lambda rng: (rng.permutation(np.linspace(-1, 1, N)).astype(np.float32),),
    "powers": lambda rng: tuple(rng.uniform(0.5, 1.5, 2)),
    "twice": _one,
    "sorted": _one,
    "both": _two,
    "roots": _one,
    "points": _one,
    "threads": _one,
    "total": _one,
    "signs": _one,
    "resized": _two,
    "pushed": _two,
    "assigned": _two,
    "copied": _two,
    "moved": _two,
    "swapped": _two,
    "inserted": lambda rng: (rng.standard_normal(N), 0.7),
    "grown": _one,
    "appended": lambda rng: ({"weights": rng.standard_normal(N), "scale": 0.7, "more": rng.standard_normal(N)},),
    "marked": lambda rng: (rng.uniform(0.5, 2, N),),
    "squeezed": lambda rng: (_marks(rng), np.zeros(N)),
}


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE, activity={"a": "active", "b": "active"}, modes=["forward", "second"])


def _function(module: Module, name: str) -> Function:
    function = module[name]
    assert isinstance(function, Function)
    return function


@pytest.mark.parametrize("name", CALLS)
def test_gradient(module: Module, name: str) -> None:
    """Also of dual numbers, and against forward mode."""
    _function(module, name).check(*CALLS[name](np.random.default_rng()))


def test_what_is_returned(module: Module) -> None:
    x = np.random.default_rng().standard_normal(N)
    np.testing.assert_allclose(_function(module, "scaled")(x, 2.0), 2 * x**2)
    found = _function(module, "sorted")(x)
    found[0] += 1  # an array of its own
    assert _function(module, "sorted")(x).tolist() == sorted(x)
    assert _function(module, "signs")(x).tolist() == np.sign(x).tolist()
    assert _function(module, "scaled")(np.zeros(0), 2.0).shape == (0,)
    np.testing.assert_allclose(_function(module, "roots")(x), np.cos(x) + 1j * x**2)
    np.testing.assert_allclose(_function(module, "points")(x)["x"], x[::2] * x[1::2])
    assert _function(module, "marked")(x**2)["at"].tolist() == list(range(N))
    prepared = _function(module, "scaled").prepare(x, 2.0)
    first, second = prepared(), prepared()
    first[:] = 0
    np.testing.assert_allclose(second, 2 * x**2)
    with pytest.raises(PrimalError, match="nothing to add up"):
        _function(module, "total")(np.zeros(0))


def test_cotangents_are_arrays(module: Module) -> None:
    x, w = np.random.default_rng().standard_normal((2, N))
    scaled = _function(module, "scaled")
    found = scaled.vjp(x, 0.7, cotangent=w)
    assert set(found) == {"x", "a"}
    np.testing.assert_allclose(found["x"], 1.4 * x * w)
    assert found["a"] == pytest.approx(np.sum(x**2 * w))
    np.testing.assert_allclose(scaled.vjp(x, 0.7, cotangent=w.tolist(), wrt="x")["x"], 1.4 * x * w)
    each = scaled.vjp(x, 0.7, cotangent=np.eye(N), directions=N)["x"]
    np.testing.assert_allclose(each, np.diag(1.4 * x))
    shadows = {"x": np.ones(N), "a": np.zeros(1)}
    scaled.gradient(x, 0.7, shadows=shadows, cotangent=w)
    prepared = scaled.prepare_gradient(x, 0.7, shadows=shadows, cotangent=w)
    prepared()
    prepared()
    np.testing.assert_allclose(shadows["x"], 1 + 3 * 1.4 * x * w)
    weights = np.random.default_rng().standard_normal(N) + 1j * w
    found = _function(module, "roots").vjp(x, cotangent=weights)
    np.testing.assert_allclose(found["x"], -np.sin(x) * weights.real + 2 * x * weights.imag)


def test_tangents_and_second_derivatives(module: Module) -> None:
    x, v, w = np.random.default_rng().standard_normal((3, N))
    scaled = _function(module, "scaled")
    np.testing.assert_allclose(scaled.jvp(x, 0.7, tangents={"x": v})["return"], 1.4 * x * v)
    several = scaled.jvp(x, 0.7, tangents={"x": np.eye(N)}, directions=N)["return"]
    np.testing.assert_allclose(several, np.diag(1.4 * x))
    np.testing.assert_allclose(scaled.hvp(x, 0.7, tangents={"x": v}, cotangent=w)["x"], 1.4 * v * w)


def test_beside_an_array_that_is_written(module: Module) -> None:
    x, w = np.random.default_rng().standard_normal((2, N))
    both = _function(module, "both")
    found = both.vjp(x, np.zeros(N), cotangents={"y": np.ones(N)}, cotangent=w)
    np.testing.assert_allclose(found["x"], 3 * x**2 + w[::-1])
    np.testing.assert_allclose(both.vjp(x, np.zeros(N), cotangents={"y": np.ones(N)})["x"], 3 * x**2)


def test_vectors_that_are_resized(module: Module) -> None:
    x, y, w = np.random.default_rng().standard_normal((3, N))
    for name, wanted in (("resized", x**2), ("pushed", np.sin(x)), ("assigned", 1 + x**2), ("copied", x)):
        given = y.copy()
        _function(module, name)(x, given)
        np.testing.assert_allclose(given, wanted)
    np.testing.assert_allclose(_function(module, "pushed").vjp(x, y, cotangents={"y": w})["x"], np.cos(x) * w)
    one, other = x.copy(), y.copy()
    _function(module, "swapped")(one, other)
    np.testing.assert_allclose((one, other), (y**2, x))
    kept = x.copy()
    _function(module, "moved")(kept, one)
    np.testing.assert_allclose((one, kept), (x**2, x))


def test_other_sizes(module: Module) -> None:
    x = np.ones(N)
    for size in (0, N - 1, N + 1):
        with pytest.raises(ArgumentError, match=rf"'return' has {N} elements, the array for it {size}"):
            _function(module, "scaled").vjp(x, 0.7, cotangent=np.ones(size))
        beyond = np.full(N + 9, 7.0)
        with pytest.raises(ArgumentError, match=rf"'y' has {N} elements, the array for it {size}"):
            _function(module, "pushed")(x, beyond[:size])
        assert (beyond == 7).all()
        with pytest.raises(ArgumentError, match=r"'y' has 6 elements"):
            _function(module, "pushed").vjp(x, beyond[:size].copy(), cotangents={"y": np.ones(size)})
    with pytest.raises(ArgumentError, match="expected an array of float64"):
        _function(module, "scaled").vjp(x, 0.7)
    with pytest.raises(ArgumentError, match="float64"):
        _function(module, "scaled").vjp(x, 0.7, cotangent=np.ones(N, np.float32))


def test_what_is_refused(module: Module) -> None:
    for name in ("nested", "bits"):
        with pytest.raises(RefusedError, match=rf"{name} returns vector.* cannot be handed to Python"):
            _function(module, name)(np.zeros(3))
    with adgen.Tape(), pytest.raises(RefusedError, match="a tape cannot follow"):
        _function(module, "scaled")(np.ones(3), 1.0)


def test_memory_is_given_back(module: Module) -> None:
    """Of a megabyte a call."""
    import resource

    x, w = np.ones((2, 1 << 17))
    single: tuple[Any, ...] = (x.astype(np.float32),)
    calls: dict[str, tuple[Any, ...]] = {"scaled": (x, 0.7), "positive": single, "sorted": (x,)}
    for name, arguments in calls.items():
        function = _function(module, name)
        seed, used = w.astype(arguments[0].dtype), []
        for count in (5, 30):
            for _ in range(count):
                function(*arguments)
                function.vjp(*arguments, cotangent=seed)
            used.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        assert used[1] - used[0] < 12 << 10, name
