"""Factors of gradients, told from roundings by several directions."""

from __future__ import annotations

import numpy as np
import pytest

from enzyme_driver.runtime.transforms import narrow

UNIT = narrow.unit_of(["float16"])
MOST = 3e-2


def sampled(factors: tuple[float, ...], noise: float, seed: int) -> narrow.Samples:
    """Sums whose parts are wrong by the factors; along the same directions, with roundings of their own."""
    count = narrow.directions_for(len(factors))
    parts = np.random.default_rng(0).standard_normal((count, len(factors)))
    rounding = noise * np.random.default_rng(seed).standard_normal(count)
    return narrow.Samples(parts.sum(axis=1) + rounding, parts * factors, np.full(count, len(factors) ** 0.5))


def points(factors: tuple[float, ...], noise: float) -> list[narrow.Samples]:
    return [sampled(factors, noise, seed) for seed in range(2, 2 + len(narrow.SCALES))]


@pytest.mark.parametrize("factors", [(1.1, 1.1), (1.0, 1.1), (0.97, 0.97, 1.0), (1.02,)])
def test_a_factor_stays(factors: tuple[float, ...]) -> None:
    found = sampled(factors, UNIT, 1)
    assert narrow.suspects(found, UNIT, MOST)
    assert narrow.stays(found, points(factors, UNIT), UNIT)


@pytest.mark.parametrize("noise", [UNIT, 10 * UNIT, 100 * UNIT])
def test_roundings_do_not_stay(noise: float) -> None:
    ones = (1.0, 1.0)
    for seed in range(100, 200):
        assert not narrow.stays(sampled(ones, noise, seed), points(ones, noise), UNIT)


def test_few_roundings_are_not_suspected() -> None:
    found = [sampled((1.0, 1.0), UNIT, seed) for seed in range(100)]
    assert not any(narrow.suspects(each, UNIT, MOST) for each in found)


def test_what_is_no_factor_stays() -> None:
    """A part of the derivative that the gradient lacks."""
    lost = np.random.default_rng(7).standard_normal(narrow.directions_for(1))

    def lacking(seed: int) -> narrow.Samples:
        whole = sampled((1.0,), UNIT, seed)
        return narrow.Samples(whole.forward + lost, whole.parts, whole.sizes)

    assert narrow.suspects(lacking(1), UNIT, MOST)
    assert narrow.stays(lacking(1), [lacking(seed) for seed in range(2, 6)], UNIT)


def test_what_is_not_finite_is_not_decided() -> None:
    found = sampled((1.1,), UNIT, 1)
    broken = narrow.Samples(found.forward * np.inf, found.parts, found.sizes)
    assert not narrow.suspects(broken, UNIT, MOST)
    assert not narrow.stays(found, [broken], UNIT)


def test_units() -> None:
    assert narrow.unit_of(["float32", "float16"]) == 2.0**-11
    assert narrow.unit_of(["float16", "bfloat16"]) == narrow.unit_of(["float32"]) == 2.0**-8


def test_a_part_that_vanishes_at_one_point_has_no_factor_there() -> None:
    found, there = sampled((1.1, 1.1), UNIT, 1), sampled((1.1, 1.1), UNIT, 2)
    gone = there.parts * np.array([1.0, 0.0])
    assert not narrow.stays(found, [narrow.Samples(there.forward, gone, there.sizes)], UNIT)
