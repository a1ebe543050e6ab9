"""The derivative check finds right gradients right and wrong ones wrong."""

from __future__ import annotations

import ctypes
import json
import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from runtime_support import written_artifact

from enzyme_driver.errors import ArgumentError, CheckFailedError, UsageError
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.module import Module, load
from enzyme_driver.runtime.transforms.check import CheckResult, _checked
from enzyme_driver.runtime.transforms.check_case import Case
from enzyme_driver.runtime.transforms.check_difference import ParameterCheck
from enzyme_driver.runtime.transforms.cross_target import apart, placed

RANDOM = np.random.default_rng()
PARTICLE = np.dtype({"names": ["q", "id", "m"], "formats": [("f4", 3), "i4", "f8"], "offsets": [0, 12, 16]})


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Module:
    return load(written_artifact(tmp_path_factory.mktemp("hand")).folder)


def uniform(count: int, dtype: str = "f8") -> np.ndarray[Any, Any]:
    return RANDOM.uniform(-1, 1, count).astype(dtype)


def test_right_gradient_of_a_kernel(module: Module) -> None:
    x, y = uniform(100, "f4"), uniform(100, "f4")
    kept = x.copy(), y.copy()
    result = module.axpy.check[1, 100](100, 1.5, x, y, seed=int(RANDOM.integers(1000)))
    assert result.passed
    assert result.tolerance == 2e-3
    assert [part.name for part in result.parameters] == ["a", "x", "y"]
    assert result.error == result.worst.error == max(part.error for part in result.parameters)
    np.testing.assert_array_equal(x, kept[0])
    np.testing.assert_array_equal(y, kept[1])


def test_right_gradient_in_double_precision(module: Module) -> None:
    result = module.square.check[1, 50](uniform(50), np.zeros(50), 50)
    assert result.tolerance == 1e-6
    assert result.error < 1e-8


def test_infinities_that_stay_what_they_are_hide_nothing(module: Module) -> None:
    y = np.where(np.arange(60) < 50, 0.0, -np.inf)
    assert module.square.check[1, 50](uniform(60), y, 50).error < 1e-8
    with pytest.raises(CheckFailedError, match="square_wrong with respect to 'x' is wrong by"):
        module.square_wrong.check[1, 50](uniform(60), y, 50)


def test_right_gradient_of_a_function(module: Module) -> None:
    assert module.energy.check(uniform(30), 30).error < 1e-8


def test_gradients_find_no_numbers_where_they_keep_theirs(module: Module) -> None:
    library = ctypes.CDLL(str(module.artifact.library()))
    asked = [ctypes.c_int.in_dll(library, f"asked_for_{what}") for what in ("no_numbers", "any")]
    before = [count.value for count in asked]
    module.energy.check(uniform(30), 30)
    assert [count.value for count in asked] == [value + 1 for value in before]


def test_structs(module: Module) -> None:
    one, others = np.array([((2, 0, 0), 1, 5)], PARTICLE), np.zeros(2, PARTICLE)
    others["m"] = 7
    result = module.mass.check(one[0], others, True)
    assert [part.name for part in result.parameters] == ["p", "others"]
    assert result.passed
    by_members = module.mass.check({"q": [2, 0, 0], "id": 1, "m": 5}, others, True)
    assert by_members.parameters == result.parameters


def test_the_same_seed_gives_the_same_result(module: Module) -> None:
    x = uniform(20)
    first, second = (module.energy.check(x, 20, seed=5) for _ in range(2))
    assert first == second
    assert json.loads(json.dumps(asdict(first)))["seed"] == 5


def test_wrong_gradient_names_the_parameter(module: Module) -> None:
    with pytest.raises(CheckFailedError, match="square_wrong with respect to 'x' is wrong by"):
        module.square_wrong.check[1, 50](uniform(50), np.zeros(50), 50)
    assert module.square_wrong.check[1, 50](uniform(50), np.zeros(50), 50, tolerance=1.0).passed


def test_gradients_are_compared_with_those_of_another_target(module: Module) -> None:
    result = module.square.check[1, 50](uniform(50), np.zeros(50), 50, against=module.square)
    assert [part.across for part in result.parameters] == [0.0]
    assert module.square.check[1, 50](uniform(50), np.zeros(50), 50).parameters[0].across is None


def test_a_gradient_that_differs_on_another_target_names_the_parameter(module: Module) -> None:
    other = Kernel(replace(module.square_wrong._entry, signature=module.square.signature), module.square._backend)
    with pytest.raises(CheckFailedError, match=r"with respect to 'x' is wrong.* on another target it differs by"):
        module.square.check[1, 50](uniform(50), np.zeros(50), 50, against=other)


def test_another_kernel_is_not_the_same_on_another_target(module: Module) -> None:
    with pytest.raises(UsageError, match="cannot be checked against"):
        module.square.check[1, 50](uniform(50), np.zeros(50), 50, against=module.axpy)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([[3.0], [4.0]], [[3.0], [4.0]], 0.0),
        ([[3.0], [4.0]], [[3.0], [-4.0]], 8 / 5),
        ([[0.0]], [[0.0]], 0.0),
        ([[np.nan]], [[1.0]], math.inf),
    ],
)
def test_how_far_gradients_are_apart(one: list[list[float]], other: list[list[float]], expected: float) -> None:
    assert apart([np.array(part) for part in one], [np.array(part) for part in other]) == expected


def test_arguments_go_to_where_they_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "enzyme_driver.runtime.backends.buffers.BufferLibrary.from_host", lambda _, data, __: ("there", data)
    )
    x = uniform(3)
    assert placed({"n": 3, "x": x}, "openmp", "openmp")["x"] is x  # type: ignore[index]
    moved = placed({"n": 3, "x": x}, "openmp", "cuda")
    assert moved == {"n": 3, "x": ("there", moved["x"][1])}  # type: ignore[index]
    np.testing.assert_array_equal(moved["x"][1], x)


def test_values_that_are_no_numbers_do_not_pass(module: Module) -> None:
    x = uniform(10)
    x[3] = np.nan
    with pytest.raises(CheckFailedError, match="energy does not compute finite numbers at these arguments"):
        module.energy.check(x, 10)


def settled(x: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The twelfth power of what every start comes to, and how much that still follows from the start."""
    slope = np.ones_like(x)
    for _ in range(36):
        x, slope = 2.5 * x * (1 - x), slope * 2.5 * (1 - 2 * x)
    return x**12, 12 * x**11 * slope


def check_settled(module: Module, start: np.ndarray[Any, Any], seed: int, error: float) -> CheckResult:
    """That of a sum, whose gradient is given with this error."""
    case = Case(
        module.energy.signature,
        "openmp",
        (start, start.size),
        lambda values: float(settled(np.asarray(values[0]))[0].sum()),
        lambda _: {"x": settled(start)[1] + error},
    )
    return _checked(case, seed, None)


def test_differences_that_are_rounding_are_not_believed(module: Module) -> None:
    """A derivative of 1e-11 of a sum of 1e-2: differences of it are noise, which says nothing against the gradient."""
    missed = 0
    for seed in RANDOM.integers(2**31, size=200):
        start = np.random.default_rng(seed).uniform(0.3, 0.7, 5)
        assert check_settled(module, start, int(seed), 0.0).passed
        missed += check_settled(module, start, int(seed), 1e-7).passed
    assert missed <= 2  # where the direction is at right angles to the error, one in ten thousand


def test_constant_at_the_point_passes(module: Module) -> None:
    others = np.zeros(1, PARTICLE)
    assert module.mass.check(np.zeros((), PARTICLE), others, False).error == 0


def test_words_that_stand_for_numbers_are_not_checked(module: Module) -> None:
    words = np.full(5, 0x3F80, np.uint16)
    case = Case(module.energy.signature, "openmp", (words, words.size), lambda _: 0.0, lambda _: {"x": words})
    with pytest.raises(ArgumentError, match=r"x cannot be checked: it is given as uint16, not as float64"):
        _checked(case, 0, None)


def test_nothing_to_check(module: Module) -> None:
    with pytest.raises(ArgumentError, match="no parameter to check"):
        module.fails.check()


@pytest.mark.parametrize(
    ("tangent", "advice"),
    [
        (None, "dual numbers decide"),
        (2.0001, "forward mode agrees with the gradient"),
        (3.0, "report it with the source"),
    ],
)
def test_what_is_said_to_do_depends_on_forward_mode(module: Module, tangent: float | None, advice: str) -> None:
    found = ParameterCheck("x", 0.5, gradient=2.0, difference=4.0, step=0.01, tangent=tangent)
    with pytest.raises(CheckFailedError) as caught:
        CheckResult(0.002, 0, (found,)).raised(module.energy)
    assert advice in caught.value.hint


@pytest.mark.parametrize(
    ("gradient", "difference", "rounding", "tells"),
    [(2.0, 2.001, 0.01, True), (-8.5, 0.0, 1e6, False), (0.0, 0.0, 1.0, True), (1.0, 3.0, 4.0, False)],
)
def test_a_difference_that_is_lost_in_rounding_tells_nothing(
    gradient: float, difference: float, rounding: float, tells: bool
) -> None:
    found = ParameterCheck("x", 0.0, gradient, difference, step=0.01, rounding=rounding)
    result = CheckResult(0.002, 0, (found,))
    assert str(result).splitlines()[0].startswith("the gradient ")
    assert found.name in str(result).splitlines()[1]
    assert result.agrees
    assert (found.tells, result.is_settled) == (tells, tells)
