"""Sparse Hessians out of few directions: a star colouring of the graph that a symmetric pattern is.

Neighbours have different colours, and every path of four numbers has three; then each entry stands alone in one of the
two products that it takes part in (Coleman and Moré, 1984; Gebremedhin, Manne and Pothen, "What color is your
Jacobian?", SIAM Review 47, 2005, algorithm 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.runtime.transforms.colouring import Coloured, coloured

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Star:
    """A symmetric pattern with a colour for each number."""

    pattern: Coloured

    @property
    def colour_count(self) -> int:
        return int(self.colours.max(initial=-1)) + 1

    @cached_property
    def colours(self) -> Array:
        """-1 for numbers without entries."""
        indptr, indices = self.pattern.indptr, self.pattern.indices
        neighbours = [indices[indptr[i] : indptr[i + 1]] for i in range(self.pattern.shape[0])]
        neighbours = [each[each != i] for i, each in enumerate(neighbours)]
        colours = np.full(len(neighbours), -1)
        for number in np.argsort([-len(each) for each in neighbours], kind="stable"):
            if indptr[number] < indptr[number + 1]:
                colours[number] = _least_free(_forbidden(number, neighbours, colours))
        return colours

    @cached_property
    def places(self) -> tuple[Array, Array]:
        """For each entry the colour of the product that it stands alone in, and its row there."""
        row, column = self.pattern.row_of_entry, self.pattern.indices
        key = row * max(1, self.colour_count) + self.colours[column]
        alone = np.bincount(key, minlength=1)[key] == 1
        return self.colours[np.where(alone, column, row)], np.where(alone, row, column)


def star(pattern: Any, size: int) -> Star:  # noqa: ANN401
    """The colouring of a symmetric pattern of SciPy or CuPy; None for the whole matrix. Raises ArgumentError."""
    known = coloured(pattern, (size, size))
    both = np.sort(known.row_of_entry * size + known.indices)
    if not np.array_equal(both, np.sort(known.indices * size + known.row_of_entry)):
        raise ArgumentError("the pattern of a Hessian is symmetric", hint="give pattern + pattern.T")
    return Star(known)


def _forbidden(number: int, neighbours: list[Array], colours: Array) -> set[int]:
    """The colours that would leave two neighbours alike, or a path of four numbers with two colours."""
    taken: set[int] = set()
    for near in neighbours[number]:
        own = colours[near]
        taken.add(int(own))
        for far in neighbours[near]:
            if far == number or colours[far] < 0:
                continue
            if own < 0 or any(colours[last] == own and last != near for last in neighbours[far]):
                taken.add(int(colours[far]))
    return taken


def _least_free(taken: set[int]) -> int:
    colour = 0
    while colour in taken:
        colour += 1
    return colour
