"""Loops that choose how they compute several numbers: gradients in which the reverse sweep decides once are right."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openmp.compile_support import compiled_without, kernel

import enzyme_driver as adgen
from enzyme_driver import cli

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("decisions.cu")
SWITCH = "separate-decisions"
KERNELS = ("broadened", "nested", "carried", "stored", "tiled")
POINTS = 45
LINE = np.dtype([(name, np.float64) for name in ("position", "width", "strength", "phase")])
LAUNCH = (2, 32)


def arguments(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    """Lines of which about half are near a point."""
    lines = np.zeros(max(count, 1), LINE)
    for name, least, most in (("position", -2, 2), ("width", 0.6, 1.2), ("strength", 0.2, 1), ("phase", 0.1, 0.9)):
        lines[name] = random.uniform(least, most, len(lines))
    points, results = random.uniform(-2, 2, POINTS), random.uniform(0, 1, 2 * POINTS)
    return points, {"all": lines, "count": count}, POINTS, results


@pytest.fixture(scope="module")
def kernels() -> adgen.Module:
    return adgen.compile(FILE)


@pytest.fixture(scope="module")
def plain() -> adgen.Module:
    """Each number is found by a decision of its own."""
    return compiled_without(SWITCH, FILE)


@pytest.mark.parametrize("name", KERNELS)
def test_a_gradient_is_checked_against_differences_and_the_witness(kernels: adgen.Module, name: str) -> None:
    seed = secrets.randbits(31)
    result = kernel(kernels, name).check[LAUNCH](*arguments(np.random.default_rng(seed), 40), seed=seed)
    assert any(parameter.difference for parameter in result.parameters)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("count", [0, 1, 40])
def test_nothing_changes_but_the_time(kernels: adgen.Module, plain: adgen.Module, name: str, count: int) -> None:
    random = np.random.default_rng(secrets.randbits(31))
    given = arguments(random, count)
    cotangents = {"y": random.standard_normal(2 * POINTS)}
    mine, every = (kernel(each, name).vjp[LAUNCH](*given, cotangents=cotangents) for each in (kernels, plain))
    for found, expected in zip(numbers(mine), numbers(every), strict=True):
        largest = np.max(np.abs(expected), initial=0.0)  # of terms that cancel the rest is rounding
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13 * max(1.0, largest))


def numbers(gradients: object) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    """Of arrays, structs and arrays of structs."""
    if isinstance(gradients, dict):
        return [found for name in sorted(gradients) for found in numbers(gradients[name])]
    return [np.array(gradients).view(np.float64)]


@pytest.mark.parametrize("target", ["openmp", "cuda"])
def test_decisions_are_taken_once_where_that_saves_something(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Not where an iteration hands on what it has computed, nor for stores."""
    assert cli.run(["pipeline", str(FILE), "-t", target, "--stats", "--debug-only", SWITCH, "--json"]) == 0
    notes = [note for run in json.loads(capsys.readouterr().out) for note in run["notes"]]
    if not notes:
        pytest.skip("this LLVM was built without assertions")
    assert {name for name in KERNELS for note in notes if name in note} == {"broadened", "nested", "tiled"}
