"""What a call leaves in the arrays that it writes: the primal, its gradient and its witness must agree on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from enzyme_driver.runtime.call.arrays import is_array
from enzyme_driver.runtime.call.slots import written
from enzyme_driver.runtime.transforms.check_case import Case, cotangents_of, host_of, ran
from enzyme_driver.runtime.transforms.check_numbers import HostArray, floats_of, widened

Outcome = Mapping[str, HostArray]
"""The numbers of floating point of every array by its name, as float64 (a complex number is two); RETURNED is one."""

RETURNED = "return"
"""What the returned number goes by."""


@dataclass(frozen=True)
class Apart:
    """Where two outcomes differ most: in which array, at which of its numbers, and by how much relative to its largest.

    Numbers that are finite on one side alone are infinitely far apart.
    """

    name: str = RETURNED
    index: int = 0
    found: float = 0.0
    expected: float = 0.0
    error: float = 0.0


def of_primal(case: Case) -> Outcome:
    """What the primal leaves in copies of the arguments, and returns."""
    return _left(case, case.primal)


def of_gradient(case: Case, weights: Mapping[str, HostArray]) -> Outcome:
    """The same of the gradient, which computes it again; without arrays whose values it may leave out."""
    found = _left(case, lambda values: case.gradient and case.gradient(values, cotangents_of(case, weights)))
    left_out = {name for name, (parameter, _) in case.parts.items() if parameter.activity == "discarded"}
    return {name: numbers for name, numbers in found.items() if name not in left_out and name != RETURNED}


def furthest(found: Outcome, expected: Outcome) -> Apart:
    """Over all arrays that both have."""
    places = (_apart(name, found[name], numbers) for name, numbers in expected.items() if name in found)
    return max(places, key=lambda apart: apart.error, default=Apart())


def _left(case: Case, call: Callable[[tuple[object, ...]], float | None]) -> Outcome:
    values, _, returned = ran(case, call)
    arrays = {
        name: floats_of(host_of(values[name], case.target))
        for name, (part, given) in case.parts.items()
        if written(part) and part.is_pointer and is_array(given)
    }
    return {RETURNED: np.array([returned or 0.0])} | {name: _flat(parts) for name, parts in arrays.items()}


def _flat(parts: list[HostArray]) -> HostArray:
    return np.concatenate([widened(part).ravel() for part in parts] or [np.zeros(0)])


def _apart(name: str, found: HostArray, expected: HostArray) -> Apart:
    both = np.isfinite(found) & np.isfinite(expected)
    size = float(np.max(np.abs(expected), initial=0.0, where=both)) or 1.0
    difference = np.abs(np.subtract(found, expected, where=both, out=np.zeros_like(expected)))
    difference[np.isfinite(found) != np.isfinite(expected)] = np.inf
    if not difference.size:
        return Apart(name)
    worst = int(np.argmax(difference))
    return Apart(name, worst, float(found[worst]), float(expected[worst]), float(difference[worst]) / size)
