"""Calls on plain arguments go a short way: they give what all calls give, refuse what these refuse, and are quick."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from benchmarks.calls import bare_call
from enzyme_driver.errors import ArgumentError
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.quick import Quick

pytestmark = pytest.mark.usefixtures("toolchain")

SOURCE = """
__global__ void six(int n, const float *a, const float *b, const float *c, const float *d, const float *e, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = y[i] * a[i] * b[i] + c[i] * d[i] + e[i] * e[i];
}
__global__ void scaled(const double *x, double *y, double by, int n) {
  int i = threadIdx.x;
  if (i < n)
    y[i] = by * x[i] * x[i];
}
"""
FUNCTION = """
double weighted(const double *x, double *y, double by, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = x[i] * y[i];
    sum += by * x[i] * x[i];
  }
  return sum;
}
"""
COUNT = 32
Array = np.ndarray[Any, Any]
WHERE = (1, COUNT)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Kernel]:
    path = tmp_path_factory.mktemp("plain") / "plain.cu"
    path.write_text(SOURCE, encoding="utf-8")
    made = adgen.compile(path, target="openmp", activity={"by": "active"}, verify="never")
    return {kernel.name: kernel for kernel in made if isinstance(kernel, Kernel)}


@pytest.fixture(scope="module")
def weighted(tmp_path_factory: pytest.TempPathFactory) -> Function:
    path = tmp_path_factory.mktemp("plain") / "weighted.cpp"
    path.write_text(FUNCTION, encoding="utf-8")
    return adgen.compile(path, function="weighted", activity={"by": "active"}, verify="never")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """An element for each call that went the short way."""
    found: list[bool] = []
    original: Callable[..., bool] = Quick._differentiate

    def counted(self: Quick, *args: object) -> bool:
        found.append(original(self, *args))
        return found[-1]

    monkeypatch.setattr(Quick, "_differentiate", counted)
    return found


def arrays() -> dict[str, Array]:
    rng = np.random.default_rng(3)
    return {name: rng.standard_normal(COUNT).astype(np.float32) for name in "abcdey"}


def expected(given: dict[str, Array], seed: Array) -> dict[str, Array]:
    a, b, c, d, e, y = given.values()
    return {"a": seed * y * b, "b": seed * y * a, "c": seed * d, "d": seed * c, "e": 2 * seed * e, "y": seed * a * b}


@pytest.mark.parametrize("number", [COUNT, np.int32(COUNT), np.int64(COUNT)])
@pytest.mark.parametrize("wrt", [None, "c", ("e", "a"), ["y"]])
def test_vjp(
    kernels: dict[str, Kernel], runs: list[bool], number: object, wrt: str | tuple[str, ...] | list[str] | None
) -> None:
    given, seed = arrays(), np.linspace(1, 2, COUNT, dtype=np.float32)
    before = {name: value.copy() for name, value in given.items()}
    for value in given.values():
        value.flags.writeable = False
    found = kernels["six"].vjp[WHERE](number, *given.values(), cotangents={"y": seed}, wrt=wrt)
    wanted = expected(given, seed)
    assert tuple(found) == ((wrt,) if isinstance(wrt, str) else tuple(wrt or wanted))
    for name, value in found.items():
        np.testing.assert_allclose(value, wanted[name], rtol=1e-5)
    for name, value in given.items():
        np.testing.assert_array_equal(value, before[name])
    assert runs == [True]


def test_arguments_by_name(kernels: dict[str, Kernel], weighted: Function, runs: list[bool]) -> None:
    given, seed = arrays(), np.linspace(1, 2, COUNT, dtype=np.float32)
    named: dict[str, Any] = {name: given[name] for name in "yedcb"}
    found = kernels["six"].vjp[WHERE](COUNT, given["a"], **named, cotangents={"y": seed})
    for name, value in expected(given, seed).items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5)
    x = np.ones(COUNT)
    assert weighted.vjp(x, n=COUNT, y=x.copy(), by=3.0)["x"][0] == 6
    assert weighted(x=x, n=COUNT, y=x.copy(), by=3.0) == 3 * COUNT
    assert runs == [True, True]
    for wrong in ({"n": COUNT}, {"n": COUNT, "y": x, "by": 3.0, "z": 1}, {"x": x, "y": x, "by": 3.0}):
        with pytest.raises(ArgumentError):
            weighted(x, **wrong)


def test_calls_of_other_arrays_between(kernels: dict[str, Kernel], runs: list[bool]) -> None:
    """What is known of the arrays of the last call holds for the same arrays only."""
    gradient = kernels["six"].gradient[WHERE]
    given, seed = arrays(), np.linspace(1, 2, COUNT, dtype=np.float32)
    wanted = expected(given, seed)

    def right(count: int) -> bool:
        short = {name: value[:count] for name, value in given.items()}
        shadows = {name: np.zeros(count, np.float32) for name in "abcde"} | {"y": seed[:count].copy()}
        gradient(count, *(value.copy() if name == "y" else value for name, value in short.items()), shadows=shadows)
        return all(np.allclose(shadows[name], wanted[name][:count], rtol=1e-5) for name in wanted)

    assert all(right(count) for count in (COUNT, COUNT, 7, COUNT, 7))
    assert runs == [True] * 5
    shadows = {name: np.zeros(COUNT, np.float32) for name in "abcdey"}
    gradient(COUNT, *given.values(), shadows=shadows)
    with pytest.raises(ArgumentError):
        gradient(COUNT, *given.values(), shadows=shadows | {"a": given["b"]})
    with pytest.raises(ArgumentError):
        gradient(COUNT, *(given | {"y": given["b"]}).values(), shadows=shadows)
    assert len(runs) == 6


def test_gradient_adds_to_shadows(kernels: dict[str, Kernel], runs: list[bool]) -> None:
    given, seed = arrays(), np.linspace(1, 2, COUNT, dtype=np.float32)
    wanted = expected(given, seed)
    shadows = {name: np.full(COUNT, 3, np.float32) for name in "abcde"} | {"y": seed.copy()}
    kernels["six"].gradient[WHERE](COUNT, *given.values(), shadows=shadows)
    for name, value in shadows.items():
        np.testing.assert_allclose(value, wanted[name] + (0 if name == "y" else 3), rtol=1e-5)
    assert runs == [True]


def test_active_number(kernels: dict[str, Kernel], runs: list[bool]) -> None:
    x, y, seed = np.linspace(0, 1, COUNT), np.zeros(COUNT), np.linspace(2, 3, COUNT)
    found = kernels["scaled"].vjp[WHERE](x, y, 1.5, COUNT, cotangents={"y": seed})
    np.testing.assert_allclose(found["x"], 3 * seed * x)
    np.testing.assert_allclose(found["by"], seed @ x**2)
    assert found["by"].shape == ()
    assert runs == [True]


def test_function(weighted: Function, runs: list[bool]) -> None:
    x, y = np.linspace(0, 1, COUNT), np.linspace(1, 3, COUNT)
    assert weighted(x, y.copy(), 2, COUNT) == pytest.approx(2 * x @ x)
    found = weighted.vjp(x, y, 2.0, COUNT, cotangent=3.0, cotangents={"y": np.ones(COUNT)})
    np.testing.assert_allclose(found["x"], 12 * x + y)
    np.testing.assert_allclose(found["y"], x)
    np.testing.assert_allclose(found["by"], 3 * x @ x)
    shadows = {"x": np.ones(COUNT), "y": np.zeros(COUNT), "by": np.ones(1)}
    weighted.gradient(x, y.copy(), 2.0, COUNT, shadows=shadows)
    np.testing.assert_allclose(shadows["x"], 1 + 4 * x)
    np.testing.assert_allclose(shadows["by"], 1 + x @ x)
    assert runs == [True, True]


def test_prepared_function(weighted: Function) -> None:
    x, y = np.linspace(0, 1, COUNT), np.linspace(1, 3, COUNT)
    shadows = {"x": np.zeros(COUNT), "y": np.zeros(COUNT), "by": np.zeros(1)}
    call, gradient = (
        weighted.prepare(x, y, 2.0, COUNT),
        weighted.prepare_gradient(x, y, 2.0, COUNT, shadows=shadows, cotangent=3.0),
    )
    assert call() == pytest.approx(2 * x @ x)
    x *= 2
    assert call() == pytest.approx(2 * x @ x)
    for times in (1, 2):
        gradient()
        np.testing.assert_allclose(shadows["x"], 12 * x * times)
    with pytest.raises(ArgumentError):
        weighted.prepare_gradient(x, y, 2.0, COUNT, shadows={**shadows, "x": y})
    with adgen.Tape(), pytest.raises(adgen.UsageError, match="tape"):
        call()


def wrong(name: str, given: dict[str, Array]) -> dict[str, Any]:
    """Arguments that no call takes."""
    wide = np.zeros(2 * COUNT, np.float32)
    changed: dict[str, dict[str, Any]] = {
        "dtype": {"a": given["a"].astype(np.float64)},
        "strides": {"a": wide[::2]},
        "list": {"a": [1.0] * COUNT},
        "written twice": {"a": given["y"]},
        "shifted": {"a": wide[:COUNT], "y": wide[1 : COUNT + 1]},
    }
    return {**given, **changed[name]}


@pytest.mark.parametrize("name", ["dtype", "strides", "list", "written twice", "shifted"])
def test_refusals_are_the_same(kernels: dict[str, Kernel], runs: list[bool], name: str) -> None:
    given = wrong(name, arrays())
    shadows = {name: np.zeros(COUNT, np.float32) for name in "abcdey"}
    with pytest.raises(ArgumentError):
        kernels["six"].vjp[WHERE](COUNT, *given.values(), cotangents={"y": shadows["y"]})
    with pytest.raises(ArgumentError):
        kernels["six"].gradient[WHERE](COUNT, *given.values(), shadows=shadows)
    assert runs == []


@pytest.mark.parametrize(
    "shadows",
    [
        pytest.param(lambda made, _: {**made, "a": made["b"]}, id="twice"),
        pytest.param(lambda made, given: {**made, "a": given["b"]}, id="an argument"),
        pytest.param(lambda made, _: {n: v for n, v in made.items() if n != "c"}, id="missing"),
        pytest.param(lambda made, _: {**made, "n": np.zeros(1, np.int32)}, id="too many"),
        pytest.param(lambda made, _: {**made, "a": np.zeros(COUNT - 1, np.float32)}, id="shape"),
        pytest.param(lambda made, _: {**made, "a": np.zeros(COUNT)}, id="dtype"),
        pytest.param(lambda made, _: {**made, "a": np.broadcast_to(made["a"][:1], COUNT)}, id="read-only"),
    ],
)
def test_refused_shadows(
    kernels: dict[str, Kernel], runs: list[bool], shadows: Callable[..., dict[str, Array]]
) -> None:
    given = arrays()
    made = {name: np.zeros(COUNT, np.float32) for name in "abcdey"}
    with pytest.raises(ArgumentError):
        kernels["six"].gradient[WHERE](COUNT, *given.values(), shadows=shadows(made, given))
    assert runs == []


@pytest.mark.parametrize("number", [2**31, COUNT + 0.5, "32", None])
def test_refused_numbers(kernels: dict[str, Kernel], number: object) -> None:
    with pytest.raises(ArgumentError):
        kernels["six"].vjp[WHERE](number, *arrays().values(), cotangents={"y": np.ones(COUNT, np.float32)})


@pytest.mark.parametrize(
    "seeds",
    [{"a": np.ones(COUNT, np.float32)}, {"y": np.ones(COUNT)}, {"y": np.ones(COUNT + 1, np.float32)}, {"z": 1}],
)
def test_refused_cotangents(kernels: dict[str, Kernel], runs: list[bool], seeds: dict[str, object]) -> None:
    with pytest.raises(ArgumentError):
        kernels["six"].vjp[WHERE](COUNT, *arrays().values(), cotangents=seeds)
    assert runs == []


def test_read_only_output_is_refused(kernels: dict[str, Kernel]) -> None:
    given = arrays()
    given["y"].flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        kernels["six"][WHERE](COUNT, *given.values())


def test_tape_sees_a_plain_call(kernels: dict[str, Kernel]) -> None:
    given = arrays()
    with adgen.Tape() as tape:
        kernels["six"][WHERE](COUNT, *given.values())
        with pytest.raises(adgen.UsageError, match="tape"):
            kernels["six"].vjp[WHERE](COUNT, *given.values())
    assert tape.launches == 1


def rounds(call: Callable[[], object]) -> Iterator[float]:
    for _ in range(15):
        start = time.perf_counter()
        for _ in range(200):
            call()
        yield time.perf_counter() - start


def test_overhead(kernels: dict[str, Kernel]) -> None:
    """At most so many times a bare call through ctypes: the general way takes several times as long."""
    given, shadows = arrays(), {name: np.ones(COUNT, np.float32) for name in "abcdey"}
    kernel, args = kernels["six"], (COUNT, *given.values())
    prepared = kernel.gradient[WHERE].prepare(*args, shadows=shadows)
    bare = min(rounds(bare_call(kernel, WHERE, args, shadows)))
    assert min(rounds(prepared)) < 50 * bare
    assert min(rounds(lambda: kernel.vjp[WHERE](*args, cotangents={"y": shadows["y"]}))) < 250 * bare


@pytest.mark.parametrize("given", [np.ones(COUNT, np.float32), [np.ones(COUNT, np.float32)], 1.0])
def test_derivatives_are_given_by_name(kernels: dict[str, Kernel], weighted: Function, given: Any) -> None:  # noqa: ANN401
    six, of_six = kernels["six"], (COUNT, *arrays().values())
    of_weighted = (np.ones(COUNT), np.ones(COUNT), 2.0, COUNT)
    with pytest.raises(ArgumentError, match="cotangents: expected a dict from the names of parameters"):
        six.vjp[WHERE](*of_six, cotangents=given)
    with pytest.raises(ArgumentError, match="cotangents: expected a dict from the names of parameters"):
        weighted.vjp(*of_weighted, cotangents=given)
    with pytest.raises(ArgumentError, match="shadows: expected a dict from the names of parameters"):
        six.gradient[WHERE](*of_six, shadows=given)
    with pytest.raises(ArgumentError, match="shadows: expected a dict from the names of parameters"):
        six.gradient[WHERE].prepare(*of_six, shadows=given)
    with pytest.raises(ArgumentError, match="shadows: expected a dict from the names of parameters"):
        weighted.gradient(*of_weighted, shadows=given)
    with pytest.raises(ArgumentError, match="shadows: expected a dict from the names of parameters"):
        weighted.prepare_gradient(*of_weighted, shadows=given)
