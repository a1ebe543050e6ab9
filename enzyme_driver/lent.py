"""Tables for which a launch lends a gradient dynamic shared memory (`adgen-privatize-lookups`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

_ALIGNMENT = 16
_MOST_BYTES = 8 * 1024  # of a table
_FEWEST_BLOCKS = 32  # of a launch that has tables, as in the pass


@dataclass(frozen=True)
class LentTable:
    """A shadow for which each block may have a table, in which it takes so many times as many bytes."""

    shadow: int
    widening: int


def lent_bytes(tables: Sequence[LentTable], shadows: Sequence[int], grid: Sequence[int]) -> int:
    """The dynamic shared memory of a launch whose shadows are of so many bytes, in which the short ones have tables.

    Each has as many bytes as the longest, and the lowest bits say which of them there are.
    """
    if not tables or prod(grid) < _FEWEST_BLOCKS:
        return 0
    sizes = [shadows[table.shadow] * table.widening for table in tables]
    fitting = [0 < size <= _MOST_BYTES for size in sizes]
    longest = max(size * fits for size, fits in zip(sizes, fitting, strict=True))
    each = -(-longest // _ALIGNMENT) * _ALIGNMENT
    return each * sum(fitting) + sum(fits << number for number, fits in enumerate(fitting))
