"""C++ functions that take structs by reference, vectors, spans and complex numbers."""

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

FILE = Path(__file__).with_name("interfaces.cpp")
POINT = np.dtype([(name, np.float64) for name in "xyz"])
N = 9

Rng = np.random.Generator


def _points(rng: Rng) -> np.ndarray:
    points = np.zeros(N, POINT)
    for name in "xyz":
        points[name] = rng.uniform(-1, 1, N)
    return points


def _complex(rng: Rng) -> np.ndarray:
    return rng.standard_normal(N) + 1j * rng.standard_normal(N)


CALLS: dict[str, Callable[[Rng], tuple[Any, ...]]] = {
    "by_reference": lambda rng: ({"u": rng.standard_normal(N), "n": N, "h": 0.3},),
    "smooth": lambda rng: ({"u": rng.standard_normal(N), "n": N, "h": 0.3}, np.zeros(N)),
    "neighbours": lambda rng: (rng.standard_normal(N),),
    "visited": lambda rng: (rng.standard_normal(N),),
    "activate": lambda rng: (rng.standard_normal(N).astype(np.float32), np.zeros(N, np.float32)),
    "of_a_copy": lambda rng: (rng.standard_normal(N),),
    "volumes": lambda rng: (_points(rng),),
    "of_a_member": lambda rng: ({"data": rng.standard_normal(N), "stride": 2},),
    "of_a_span": lambda rng: (rng.standard_normal(N),),
    "of_some": lambda rng: (rng.standard_normal(N), np.array([1, 1, 4], np.int32)),
    "power": lambda rng: (_complex(rng), np.zeros(N, np.complex128)),
}


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE, flags=["-std=c++20"])


@pytest.mark.parametrize("name", CALLS)
def test_gradient(module: Module, name: str) -> None:
    function(module, name).check(*CALLS[name](np.random.default_rng()))


def test_vectors_are_arrays(module: Module) -> None:
    x = np.random.default_rng().standard_normal(N)
    neighbours = function(module, "neighbours")
    assert neighbours(x) == pytest.approx(float(np.sum(x[1:] * np.sin(x[:-1]))))
    assert neighbours(x[:1].copy()) == 0
    derivative = neighbours.vjp(x)["v"]
    np.testing.assert_allclose(derivative[-1], np.sin(x[-2]))
    before = x.copy()
    function(module, "of_a_copy")(x)
    np.testing.assert_array_equal(x, before)
    out = np.zeros(N, np.float32)
    function(module, "activate")(x.astype(np.float32), out)
    np.testing.assert_allclose(out, np.tanh(x), rtol=1e-5)
    assert str(neighbours.signature).startswith("neighbours(const vector<double")


def test_a_vector_has_elements_of_its_type(module: Module) -> None:
    with pytest.raises(ArgumentError, match="float64"):
        function(module, "neighbours")(np.zeros(N, np.float32))


def test_a_struct_that_changes_itself_is_refused(module: Module) -> None:
    with pytest.raises(RefusedError, match="changes members of 'grid' itself"):
        adgen.compile(FILE, function="advance", flags=["-std=c++20"])
    with pytest.raises(RefusedError, match="changes members of 'grid' itself"):
        function(module, "advance")({"u": np.zeros(N), "n": N, "h": 1.0})


def test_a_vector_that_becomes_longer_than_its_array(module: Module) -> None:
    with pytest.raises(ArgumentError, match=f"{N + 1}"):
        function(module, "grow")(np.zeros(N))


def test_a_complex_number_by_value(tmp_path: Path) -> None:
    path = tmp_path / "value.cpp"
    path.write_text(
        "#include <complex>\n"
        "double f(std::complex<double> c, double x) { c.real(x * c.imag()); return 5 * c.real() * c.imag() + x; }\n",
        encoding="utf-8",
    )
    (f,) = adgen.compile(path, activity={"c": "active", "x": "active"}, cache=False)
    for c in (0.5 + 2j, np.complex128(0.5 + 2j)):
        assert f(c, 3.0) == 5 * 3 * 2 * 2 + 3
        result = f.vjp(c, 3.0)
        np.testing.assert_allclose(result["c"].view(np.complex128).reshape(()), 2 * 5 * 3 * 2j)
        np.testing.assert_allclose(result["x"], 5 * 2 * 2 + 1)


def test_numbers_of_a_pack_have_names_of_their_own() -> None:
    active = {"y": "active", "y1": "active"}
    of_pack = adgen.compile(FILE, function="of_pack<double, double>", flags=["-std=c++20"], activity=active)
    found = of_pack.vjp(np.array([2.0]), 3.0, 5.0)
    assert {name: float(np.ravel(value)[0]) for name, value in found.items()} == {"x": 15.0, "y": 10.0, "y1": 6.0}
