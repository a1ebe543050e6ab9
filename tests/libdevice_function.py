"""A function of device mathematics: its code, its value and slopes in high precision, and where to try it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import mpmath as mp
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Precision = Literal["float32", "float64"]
Number = Any  # mpmath has no types
Draw = Callable[[np.random.Generator, int, Precision], Array]

DIGITS = 60


def uniform(low: float, high: float) -> Draw:
    return lambda rng, count, _: rng.uniform(low, high, count)


def magnitudes(low: float, high: float, low64: float | None = None, high64: float | None = None) -> Draw:
    """Positive numbers evenly spread in their exponents; double may have a range of its own."""

    def draw(rng: np.random.Generator, count: int, precision: Precision) -> Array:
        wide = precision == "float64"
        lowest = low64 if wide and low64 is not None else low
        highest = high64 if wide and high64 is not None else high
        return np.exp(rng.uniform(math.log(lowest), math.log(highest), count))

    return draw


def signed(draw: Draw) -> Draw:
    return lambda rng, count, precision: draw(rng, count, precision) * rng.choice([-1.0, 1.0], count)


def mixed(*draws: Draw) -> Draw:
    """Equal parts of each."""

    def draw(rng: np.random.Generator, count: int, precision: Precision) -> Array:
        parts = [each(rng, count // len(draws) + 1, precision) for each in draws]
        return rng.permutation(np.concatenate(parts))[:count]

    return draw


def between_integers(low: float, high: float, step: float = 1.0) -> Draw:
    """At least a twentieth of a step away from its multiples, where functions jump."""

    def draw(rng: np.random.Generator, count: int, _: Precision) -> Array:
        return (rng.integers(round(low / step), round(high / step), count) + rng.uniform(0.05, 0.45, count)) * step

    return draw


def whole(low: int, high: int) -> Draw:
    return lambda rng, count, _: rng.integers(low, high, count).astype(float)


def exactly(*values: float) -> Draw:
    return lambda rng, count, _: rng.choice(np.array(values), count)


Slopes = Callable[..., Sequence[Number]]


@dataclass(frozen=True)
class Function:
    """One function; without `slopes` they are the derivatives of `value`, taken in high precision.

    `tolerance` is the relative error that is allowed, by precision; `fast` the one under fast_math, where the slope's
    error is taken relative to `scale` as well, for approximations that are only absolutely right.
    """

    name: str
    code: str
    value: Callable[..., Number]
    domains: tuple[Draw, ...]
    slopes: Slopes | None = None
    precisions: tuple[Precision, ...] = ("float32", "float64")
    group: str = "elementary"
    tolerance: tuple[float, float] = (5e-6, 1e-13)
    fast: float = 1e-3
    note: str = ""

    @property
    def arity(self) -> int:
        return len(self.domains)

    def derivative(self, point: Sequence[float], index: int) -> list[Number]:
        arguments = [mp.mpf(float(x)) for x in point]
        if self.slopes:
            return [mp.mpf(s) for s in (self.slopes(*arguments, index) if self.indexed else self.slopes(*arguments))]
        return [self._partial(arguments, k) for k in range(self.arity)]

    @property
    def indexed(self) -> bool:
        return self.group == "integer"

    def evaluate(self, point: Sequence[float], index: int) -> Number:
        arguments = [mp.mpf(float(x)) for x in point]
        return self.value(*arguments, index) if self.indexed else self.value(*arguments)

    def _partial(self, arguments: list[Number], k: int) -> Number:
        step = mp.mpf(10) ** (-DIGITS // 3) * (abs(arguments[k]) or 1)

        def moved(by: int) -> Number:
            return self.value(*arguments[:k], arguments[k] + by * step, *arguments[k + 1 :])

        return (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12 * step)
