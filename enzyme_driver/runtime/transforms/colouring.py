"""Sparse Jacobians out of few directions: which columns (or rows) may share one, after Curtis, Powell and Reid (1974).

Columns that have no row in common may be carried forward together: each entry of the sum belongs to one of them. In the
same way rows that have no column in common may be carried back together, and some entries found by the one and the
others by the other (Coleman and Verma, "The efficient computation of sparse Jacobian matrices using automatic
differentiation", SIAM Journal on Scientific Computing 19, 1998).
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError, ToolchainError

KNOWN = 32
"""Colourings that are remembered, by their patterns."""

FEW_COLOURS = 6
"""With no more of them, columns and rows are not looked at together."""


@dataclass(frozen=True)
class Directions:
    """Some directions: [directions, columns or rows] that say what each carries, and where, flat, in what becomes of
    them the entries are (all in order, where none are named)."""

    seeds: Any
    places: Any
    entries: Any


@dataclass(frozen=True)
class Coloured:
    """A pattern as CSR, with a colour for each column and row; those of one colour have no row (column) in common."""

    shape: tuple[int, int]
    indptr: np.ndarray[Any, Any]
    indices: np.ndarray[Any, Any]
    _placed: dict[object, Any] = field(default_factory=dict, repr=False, compare=False)

    def directions(self, xp: Any, *, forward: bool, at_once: int) -> list[Directions]:  # noqa: ANN401
        """All directions, as arrays of NumPy or CuPy, so many at once at the most."""
        key = (xp.__name__, _device(xp), forward, at_once)
        if key not in self._placed:
            colours, count = (self.columns, self.column_colours) if forward else (self.rows, self.row_colours)
            colour = colours[self.indices if forward else self.row_of_entry]
            place = self.row_of_entry if forward else self.indices
            size = self.shape[0 if forward else 1]
            parts = []
            for first in range(0, count, at_once):
                some = np.arange(first, min(first + at_once, count))
                entries = None if len(some) == count else np.flatnonzero((colour >= first) & (colour <= some[-1]))
                at = slice(None) if entries is None else entries
                places = (colour[at] - first) * size + place[at]
                found = (colours[None] == some[:, None], places, entries)
                parts.append(Directions(*(each if each is None else xp.asarray(each) for each in found)))
            self._placed[key] = parts
        parts_known: list[Directions] = self._placed[key]
        return parts_known

    def structure(self, xp: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Columns and starts of rows, as arrays of NumPy or CuPy; of 32 bits where they suffice, as CuPy has them."""
        key = (xp.__name__, _device(xp), "structure")
        if key not in self._placed:
            kind = np.int32 if max(len(self.indices), *self.shape) <= np.iinfo(np.int32).max else np.int64
            self._placed[key] = tuple(xp.asarray(each.astype(kind)) for each in (self.indices, self.indptr))
        columns, starts = self._placed[key]
        return columns, starts

    @property
    def row_of_entry(self) -> np.ndarray[Any, Any]:
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    @cached_property
    def columns(self) -> np.ndarray[Any, Any]:
        return without_common_rows(self._ones.tocsc())

    @cached_property
    def rows(self) -> np.ndarray[Any, Any]:
        return without_common_rows(self._ones.T)

    @cached_property
    def column_colours(self) -> int:
        return int(self.columns.max(initial=-1)) + 1

    @cached_property
    def row_colours(self) -> int:
        return int(self.rows.max(initial=-1)) + 1

    @cached_property
    def both_ways(self) -> tuple[tuple[bool, Coloured, np.ndarray[Any, Any]], ...] | None:
        """Some entries by columns and the others by rows, where that needs fewer directions than either alone.

        For each part whether it is carried forward, its pattern, and which entries it has. Some of the fullest rows (or
        columns) are carried alone, which leaves few colours to the others, as in an arrow: a row, a column, a diagonal.
        """
        best, found = self.column_colours if self.prefers_columns else self.row_colours, None
        if best <= FEW_COLOURS:
            return None
        counts = (np.bincount(self.row_of_entry, minlength=1), np.bincount(self.indices, minlength=1))
        for lines, of_entry, forward in ((counts[0], self.row_of_entry, False), (counts[1], self.indices, True)):
            order = np.argsort(-lines, kind="stable")
            for power in range(best.bit_length()):
                if 2**power >= len(order) or lines[order[2**power]] + 1 >= best:
                    continue  # the others have at least as many colours as the fullest of them has entries
                apart = np.isin(of_entry, order[: 2**power])
                own, rest = self._of(apart), self._of(~apart)
                ways = (own.row_colours, rest.column_colours) if not forward else (own.column_colours, rest.row_colours)
                if sum(ways) < best:
                    best = sum(ways)
                    found = ((forward, own, np.flatnonzero(apart)), (not forward, rest, np.flatnonzero(~apart)))
        return found

    def _of(self, entries: np.ndarray[Any, Any]) -> Coloured:
        """The pattern with these entries alone."""
        counts = np.bincount(self.row_of_entry[entries], minlength=self.shape[0])
        return Coloured(self.shape, np.concatenate([[0], np.cumsum(counts)]), self.indices[entries])

    @cached_property
    def prefers_columns(self) -> bool:
        """Whether there are no more colours of columns than of rows; colours only what it must to know.

        There are at least as many colours of columns as the fullest row has entries, and the other way round.
        """
        fullest_row = int(np.diff(self.indptr).max(initial=0))
        fullest_column = int(np.bincount(self.indices, minlength=1).max())
        if fullest_row <= fullest_column:
            return self.column_colours <= fullest_column or self.column_colours <= self.row_colours
        return self.row_colours > fullest_row and self.column_colours <= self.row_colours

    @property
    def _ones(self) -> Any:  # noqa: ANN401
        ones = np.ones(len(self.indices), np.int8)
        return scipy_sparse().csr_array((ones, self.indices, self.indptr), shape=self.shape)


_known: OrderedDict[bytes, Coloured] = OrderedDict()


def coloured(pattern: Any, shape: tuple[int, int]) -> Coloured:  # noqa: ANN401
    """The colouring of a pattern: a sparse matrix of SciPy or CuPy, whose values do not matter; None, "dense": all.

    Raises ArgumentError where its shape is another, ToolchainError without SciPy.
    """
    sparse = scipy_sparse()
    if isinstance(pattern, Coloured) and pattern.shape == shape:
        return pattern
    if pattern is None or (isinstance(pattern, str) and pattern == "dense"):
        every = np.tile(np.arange(shape[1]), shape[0])
        return Coloured(shape, np.arange(shape[0] + 1) * shape[1], every)
    host = pattern.get() if type(pattern).__module__.startswith("cupyx") else pattern
    if not sparse.issparse(host) or tuple(host.shape) != shape:
        raise ArgumentError(
            f"pattern: a {type(pattern).__name__} of shape {getattr(pattern, 'shape', '?')}; the Jacobian is {shape}",
            hint="give a sparse matrix of SciPy or CuPy, a row for each element of the output",
        )
    rows = sparse.csr_array(host)
    rows.sum_duplicates()
    rows.sort_indices()
    key = hashlib.sha256(b"".join((repr(shape).encode(), rows.indptr.tobytes(), rows.indices.tobytes()))).digest()
    if key not in _known:
        _known[key] = Coloured(shape, rows.indptr, rows.indices)
        if len(_known) > KNOWN:
            _known.popitem(last=False)
    _known.move_to_end(key)
    return _known[key]


def colour(pattern: Any) -> Coloured:  # noqa: ANN401
    """A pattern for `k.jacobian` that is coloured once: a sparse matrix of SciPy or CuPy."""
    return coloured(pattern, tuple(getattr(pattern, "shape", ())))


def _device(xp: Any) -> int:  # noqa: ANN401
    return 0 if xp is np else int(xp.cuda.Device().id)


def without_common_rows(columns: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401
    """A colour for each column of a CSC matrix, -1 for one without entries; columns of one colour share no row.

    Greedy: the least colour that none of its rows has yet, the fullest columns first.
    """
    counts = np.diff(columns.indptr)
    colours = np.full(len(counts), -1)
    filled = np.flatnonzero(counts)
    if np.bincount(columns.indices, minlength=1).max() == len(filled):  # a row has them all
        colours[filled] = np.arange(len(filled))
        return colours
    taken = np.zeros((columns.shape[0], 8), bool)  # by row and colour
    for column in np.argsort(-counts, kind="stable")[: len(filled)]:
        rows = columns.indices[columns.indptr[column] : columns.indptr[column + 1]]
        free = ~taken[rows].any(axis=0)
        colour = int(free.argmax())
        if not free[colour]:
            colour = taken.shape[1]
            taken = np.concatenate([taken, np.zeros_like(taken)], axis=1)
        taken[rows, colour] = True
        colours[column] = colour
    return colours


def scipy_sparse() -> Any:  # noqa: ANN401
    try:
        import scipy.sparse
    except ImportError:
        raise ToolchainError("sparse Jacobians need SciPy", hint="pip install scipy") from None
    return scipy.sparse
