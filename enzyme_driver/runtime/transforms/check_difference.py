"""The gradient along one parameter against central differences and, if there, forward mode."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from enzyme_driver.model import Parameter
from enzyme_driver.runtime.transforms.check_case import Case, host_of, pushed_forward, ran
from enzyme_driver.runtime.transforms.check_numbers import (
    EPSILON,
    Floats,
    HostArray,
    direction_of,
    floats_of,
    moved_along,
    widened,
)

TOLERANCE: Mapping[int, float] = {8: 1e-6, 4: 2e-3, 2: 5e-2}
"""Largest accepted error by the size in bytes of the narrowest floating-point type that takes part."""

STEPS: Mapping[int, tuple[float, ...]] = {8: (1e-4, 1e-5, 1e-6), 4: (1e-2, 3e-3, 1e-3), 2: (1e-1, 3e-2)}
"""Steps that are tried, relative to the values, by the same size; the one with the best agreement counts."""

_MOST_ROUNDINGS = 100
"""How many times the rounding of its results a primal's noise is believed to be; what jumps by more is no noise."""
Outcome = tuple[dict[str, HostArray], float | None]


@dataclass(frozen=True)
class ParameterCheck:
    """The directional derivatives of one parameter, the largest relative difference, and the step that was used.

    `tangent` is forward mode's, where that was compiled. `across` is how far the gradient is from that on another
    target, where it was compared with one. `apart` is how far it is from these, which take no step over a kink.
    `rounding` is what rounding inside the primal may make of the difference.
    """

    name: str
    error: float
    gradient: float
    difference: float
    step: float
    tangent: float | None = None
    across: float | None = None
    apart: float = 0.0
    rounding: float = 0.0

    @property
    def tells(self) -> bool:
        """Whether the difference says anything: not where the results are so large that it is lost in rounding."""
        return self.rounding < max(abs(self.gradient), abs(self.difference)) or self.gradient == self.difference


@dataclass(frozen=True)
class Line:
    """The line along which one parameter is moved from where it is; `adjoint` is the gradient with respect to it."""

    case: Case
    parameter: Parameter
    weights: Mapping[str, HostArray]
    start: HostArray
    direction: Floats
    adjoint: Floats

    def at(self, step: float) -> HostArray:
        return moved_along(self.start, self.direction, step)

    def outcome(self, data: HostArray) -> Outcome:
        return outcome(self.case, self.weights, self.parameter, data)


@dataclass(frozen=True)
class Difference:
    """The derivative along a line, as the gradient says and as differences at one step do.

    `scale` is the size of the gradient's terms, `rounding` what one rounding of every result makes of the difference.
    """

    step: float
    predicted: float
    change: float
    scale: float
    rounding: float

    def judged(self, name: str, noise: float) -> ParameterCheck:
        """`noise` is the deviation of the primal's weighted sum, where that is known."""
        largest = max(abs(self.predicted), abs(self.change), self.scale)
        apart = abs(self.predicted - self.change)
        believed = max(self.rounding, 4 * noise / (math.sqrt(2) * self.step))
        equal = math.isfinite(self.change) and apart <= believed
        error = 0.0 if equal else apart / (largest or math.nan)
        error = math.inf if math.isnan(error) else error
        return ParameterCheck(name, error, self.predicted, self.change, self.step, rounding=believed)


def line_of(
    case: Case,
    parameter: Parameter,
    weights: Mapping[str, HostArray],
    start: HostArray,
    gradient: HostArray,
    random: np.random.Generator,
) -> Line:
    direction = [direction_of(part, random) for part in floats_of(start)]
    return Line(case, parameter, weights, start, direction, floats_of(gradient))


def along_line(line: Line, size: int) -> ParameterCheck:
    tried = [_difference(line, step) for step in STEPS[size]]
    found = _best(line, tried, noise=0.0)
    if found.error > TOLERANCE[size]:
        found = _best(line, tried, _noise(line, STEPS[size][-1]))
    return found if line.case.jvp is None else _with_tangent(line, found)


def _best(line: Line, tried: Sequence[Difference], noise: float) -> ParameterCheck:
    return min(
        (each.judged(line.parameter.name, noise) for each in tried), key=lambda check: (check.error, check.rounding)
    )


def _noise(line: Line, step: float) -> float:
    """The deviation of the weighted sum that rounding inside the primal makes, from seven values close to each other.

    Third differences leave nothing of what is smooth (Moré and Wild, Estimating computational noise, 2011). At least
    what one rounding of every result adds up to.
    """
    outcomes = [line.outcome(line.at(step * place)) for place in range(7)]
    changes, roundings = zip(*(_change(line, outcome, outcomes[0]) for outcome in outcomes), strict=True)
    deviation = math.sqrt(float(np.mean(np.diff(changes, 3) ** 2)) / 20)
    rounding = float(max(roundings))
    return max(deviation, rounding) if deviation <= _MOST_ROUNDINGS * rounding else rounding


def _with_tangent(line: Line, found: ParameterCheck) -> ParameterCheck:
    """The same with what forward mode says: the gradient times a direction is the outcome's tangent along it."""
    products = _products(line.adjoint, line.direction)
    predicted, tangent = float(products.sum()), _tangent(line)
    largest = max(abs(predicted), abs(tangent), float(np.linalg.norm(products)))
    apart = abs(predicted - tangent) / largest if largest else 0.0
    apart = math.inf if math.isnan(apart) else apart
    return replace(found, tangent=tangent, error=max(found.error, apart), apart=apart)


def _products(adjoint: Floats, towards: Floats) -> HostArray:
    """Of the gradient with a direction, element by element."""
    return np.concatenate([(widened(g) * d).ravel() for g, d in zip(adjoint, towards, strict=True)])


def _tangent(line: Line) -> float:
    """Of the weighted sum of all that the primal writes and returns."""
    along = np.zeros_like(line.start, order="C")
    for part, towards in zip(floats_of(along), line.direction, strict=True):
        part[...] = np.asarray(towards).astype(part.dtype)
    return float(pushed_forward(line.case, {line.parameter.name: along}, line.weights).sum())


def _difference(line: Line, step: float) -> Difference:
    above, below = line.at(step), line.at(-step)
    moved = [widened(a) - widened(b) for a, b in zip(floats_of(above), floats_of(below), strict=True)]
    products = _products(line.adjoint, moved) / (2 * step)
    outcomes = (line.outcome(above), line.outcome(below))
    change, rounding = (part / (2 * step) for part in _change(line, *outcomes))
    return Difference(step, float(products.sum()), change, float(np.linalg.norm(products)), rounding)


def _apart(above: HostArray, below: HostArray) -> HostArray:
    """Infinities that stay what they are, such as the logarithm of what cannot be, have not changed."""
    return np.subtract(above, below, where=above != below, out=np.zeros_like(above))


def _change(line: Line, above: Outcome, below: Outcome) -> tuple[float, float]:
    """The weighted sum of all that the primal writes and returns, above minus below, and how exact that can be.

    Both in float64; the second is what one rounding of every result adds up to.
    """
    (first, high), (second, low) = above, below
    terms = [np.array([(high or 0.0) - (low or 0.0)])]
    returns = line.case.signature.returns
    roundings = [np.array([abs(high or 0.0) * EPSILON.get(returns.size if returns else 0, 0.0)])]
    for name, weight in line.weights.items():
        for w, a, b in zip(floats_of(weight), floats_of(first[name]), floats_of(second[name]), strict=True):
            terms.append((widened(w) * _apart(widened(a), widened(b))).ravel())
            size = np.where(np.isfinite(a), widened(a), 0.0)
            roundings.append((widened(w) * size).ravel() * EPSILON[a.dtype.itemsize])
    return float(np.concatenate(terms).sum()), float(np.linalg.norm(np.concatenate(roundings)))


def without_infinite(case: Case, weights: Mapping[str, HostArray]) -> dict[str, HostArray]:
    """The weights, zero for results that are infinite, such as the logarithm of what cannot be."""
    arrays, _ = outcome(case, weights)
    left = {name: weight.copy() for name, weight in weights.items()}
    for name, weight in left.items():
        for part, result in zip(floats_of(weight), floats_of(arrays[name]), strict=True):
            part[np.isinf(widened(result))] = 0
    return left


def outcome(
    case: Case, weights: Mapping[str, HostArray], parameter: Parameter | None = None, data: HostArray | None = None
) -> Outcome:
    """What the primal writes, where that has a weight, and what it returns, with this data for the parameter."""
    values, variables, returned = ran(case, case.primal, parameter, data, weights)
    arrays = {name: host_of(values[name], case.target) for name in weights if name in values}
    return arrays | variables, returned
