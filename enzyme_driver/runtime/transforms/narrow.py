"""Errors of a gradient in half precision and bfloat16, told from rounding by several directions.

Along one direction a gradient that is wrong by a factor differs by as much as chance makes of it. Along several, the
differences are a multiple of each parameter's part of the sum where that parameter's gradient is wrong by a factor,
and what remains says how large roundings are. What is wrong stays so beside the arguments, and roundings do not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

_UNIT: Mapping[str, float] = {"float16": 2.0**-11, "bfloat16": 2.0**-8}
"""The largest relative error of rounding to a type."""

SCALES = (1.11, 1.22, 1.33, 1.44)
"""At a point for each of these, beside the arguments, an error has to be the same, in proportion to cotangents that are
so many times as large: sums in which small terms are lost lose others then."""

SECONDS = 5.0
"""Further directions may take so long."""

_UNITS = 6.0
"""A gradient whose factor is off by fewer units is right: sums in such a type are not better."""

_SPREADS = 4.0
"""And by fewer times the spread of what was estimated."""

_STAYS = 3.0
"""An error is no rounding if it is more than so many times what changes of it beside the arguments."""

_PART = 1e-2
"""The factor of a parameter with a smaller part in the sums is not estimated."""

_FREE = 3
"""So many directions more than factors tell the spread."""

_MOST = 8
"""Of more parameters only the common factor is estimated."""


@dataclass(frozen=True)
class Samples:
    """Along each direction: the witness's sum, each parameter's part of the gradient's, and the size of the terms."""

    forward: Numbers
    parts: Numbers
    sizes: Numbers

    def over(self, scale: float) -> Samples:
        return Samples(self.forward / scale, self.parts / scale, self.sizes / scale)

    @property
    def gaps(self) -> Numbers:
        gaps: Numbers = self.forward - self.parts.sum(axis=1)
        return gaps

    @property
    def error(self) -> float:
        """The root of the mean square, relative to that of the size."""
        size = float(np.linalg.norm(self.sizes))
        return float(np.linalg.norm(self.gaps)) / size if size else 0.0


def directions_for(parameters: int) -> int:
    """How many directions tell the factors of so many parameters."""
    return 8 + 2 * (parameters if parameters <= _MOST else 1)


def unit_of(types: Iterable[str]) -> float:
    """The unit of the narrowest type among these. What only passes through 16 bits may be of either."""
    return max((_UNIT[each] for each in types if each in _UNIT), default=max(_UNIT.values()))


def tolerance(unit: float) -> float:
    """By how much a factor may be off in any case."""
    return _UNITS * unit


def suspects(found: Samples, unit: float, most: float) -> bool:
    """Whether some factor is off, or all together by more than `most`; both may yet be rounding."""
    if not _is_finite(found):
        return False
    factors, spreads = _factors(found)
    return found.error > most or bool(np.any(np.abs(factors) > tolerance(unit) + _SPREADS * spreads))


def stays(found: Samples, beside: Sequence[Samples], unit: float) -> bool:
    """Whether what is suspected is the same at all points beside the arguments, along the same directions."""
    if not all(_is_finite(each) for each in beside):
        return False
    changes = [float(np.linalg.norm(each.gaps - found.gaps)) for each in beside]
    if float(np.linalg.norm(found.gaps)) > _STAYS * max(changes):
        return True
    factors, spreads = _factors(found)
    off = np.abs(factors) > tolerance(unit) + _SPREADS * spreads
    for each in beside:
        there, _ = _factors(each)
        off &= np.abs(there - factors) < np.abs(factors) / _STAYS
    return bool(np.any(off))


def _is_finite(found: Samples) -> bool:
    return bool(np.all(np.isfinite(found.gaps)) and np.all(np.isfinite(found.parts)))


def _factors(found: Samples) -> tuple[Numbers, Numbers]:
    """By how much the factor of each parameter's gradient differs from one, by least squares, and the spreads."""
    parts = found.parts if found.parts.shape[1] <= _MOST else found.parts.sum(axis=1, keepdims=True)
    factors, spreads = np.zeros(parts.shape[1]), np.full(parts.shape[1], math.inf)
    some = np.linalg.norm(parts, axis=0) > _PART * float(np.linalg.norm(found.sizes))
    free = len(parts) - int(some.sum())
    if np.any(some) and free >= _FREE:
        inverse = np.linalg.pinv(parts[:, some])
        factors[some] = inverse @ found.gaps
        rest = float(np.linalg.norm(found.gaps - parts @ factors)) / math.sqrt(free)
        spreads[some] = rest * np.linalg.norm(inverse, axis=1)
    return factors, spreads
