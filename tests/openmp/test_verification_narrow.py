"""Half precision and bfloat16: an error of a factor is found, and a rounding is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver import request
from enzyme_driver.runtime.call.geometry import launch_of
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.transforms import check_case, check_numbers
from enzyme_driver.runtime.transforms.verdict import Verdict
from enzyme_driver.runtime.transforms.verify import verify
from enzyme_driver.settings import Settings
from enzyme_driver.verification import witness_of

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("verified_narrow.cu")
SEEDS = range(10)
TYPES: Mapping[str, Any] = {
    "halves": np.float16,
    "brains": ml_dtypes.bfloat16,
    "sums": np.float16,
    "rounds_once": np.float32,
    "half_cosine": np.float16,
    "reduced": np.float32,
}
Pairs = dict[str, tuple[Kernel | Function, Kernel | Function]]


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    """Each gradient and its witness."""
    settings, wanted = Settings.from_environment(), request.new(FILE)
    return {each.name: (each, witness_of(each, wanted, settings, use_cache=True)) for each in adgen.compile(FILE)}


def found(pairs: Pairs, name: str, seed: int) -> Verdict:
    random, dtype = np.random.default_rng(seed), TYPES[name]
    x, w = random.normal(size=64).astype(dtype), random.normal(size=64).astype(dtype)
    arrays = (x, w, np.zeros(64, dtype))
    return verify(*pairs[name], arrays, launch_of((2, 32)), seed)


def plant(monkeypatch: pytest.MonkeyPatch, factor: float, parameters: tuple[str, ...] = ("x", "w")) -> None:
    """Every gradient that is looked at is wrong by the factor."""
    right = check_case.gradients_of

    def wrong(case: check_case.Case, weights: Mapping[str, Any]) -> dict[str, Any]:
        gradients = {name: np.array(array) for name, array in right(case, weights).items()}
        for name in parameters:
            for part in check_numbers.floats_of(gradients[name]):
                part[...] = (part.astype(np.float64) * factor).astype(part.dtype)
        return gradients

    monkeypatch.setattr(check_case, "gradients_of", wrong)


@pytest.mark.parametrize("name", TYPES)
def test_rounding_is_no_error(pairs: Pairs, name: str) -> None:
    assert {found(pairs, name, seed).state for seed in SEEDS} == {"right"}


@pytest.mark.parametrize("parameters", [("x", "w"), ("x",), ("w",)])
@pytest.mark.parametrize("name", TYPES)
def test_a_tenth_is_found(
    pairs: Pairs, monkeypatch: pytest.MonkeyPatch, name: str, parameters: tuple[str, ...]
) -> None:
    plant(monkeypatch, 1.1, parameters)
    verdicts = [found(pairs, name, seed) for seed in SEEDS]
    assert {each.state for each in verdicts} == {"wrong"}
    assert {each.parameter for each in verdicts} <= set(parameters)
    assert all(each.error > each.tolerance for each in verdicts)


@pytest.mark.parametrize(("name", "least"), [("halves", 10), ("sums", 10), ("rounds_once", 10), ("brains", 5)])
def test_three_percent(pairs: Pairs, monkeypatch: pytest.MonkeyPatch, name: str, least: int) -> None:
    """In bfloat16 that is eight roundings."""
    plant(monkeypatch, 1.03)
    assert sum(found(pairs, name, seed).state == "wrong" for seed in SEEDS) >= least
