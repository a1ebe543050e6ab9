"""Sparse Jacobians out of few directions: which columns (or rows) may share one, after Curtis, Powell and Reid (1974).

Columns that have no row in common may be carried forward together: each entry of the sum belongs to one of them. In the
same way rows that have no column in common may be carried back together.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError, ToolchainError

KNOWN = 32
"""Colourings that are remembered, by their patterns."""


@dataclass(frozen=True)
class Coloured:
    """A pattern as CSR, with a colour for each column and row; those of one colour have no row (column) in common."""

    shape: tuple[int, int]
    indptr: np.ndarray[Any, Any]
    indices: np.ndarray[Any, Any]
    columns: np.ndarray[Any, Any]
    rows: np.ndarray[Any, Any]

    @property
    def row_of_entry(self) -> np.ndarray[Any, Any]:
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    @property
    def column_colours(self) -> int:
        return int(self.columns.max(initial=-1)) + 1

    @property
    def row_colours(self) -> int:
        return int(self.rows.max(initial=-1)) + 1


_known: OrderedDict[bytes, Coloured] = OrderedDict()


def coloured(pattern: Any, shape: tuple[int, int]) -> Coloured:  # noqa: ANN401
    """The colouring of a pattern: a sparse matrix of SciPy or CuPy, whose values do not matter; None for all entries.

    Raises ArgumentError where its shape is another, ToolchainError without SciPy.
    """
    sparse = scipy_sparse()
    if pattern is None:
        return Coloured(
            shape,
            np.arange(shape[0] + 1) * shape[1],
            np.tile(np.arange(shape[1]), shape[0]),
            np.arange(shape[1]),
            np.arange(shape[0]),
        )
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
        ones = sparse.csr_array((np.ones(rows.nnz, np.int32), rows.indices, rows.indptr), shape=shape)
        found = Coloured(shape, rows.indptr, rows.indices, _greedy(ones.T @ ones), _greedy(ones @ ones.T))
        _known[key] = found
        if len(_known) > KNOWN:
            _known.popitem(last=False)
    _known.move_to_end(key)
    return _known[key]


def _greedy(meets: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401
    """The least colour that no neighbour has, those with most neighbours first; -1 for what has no entry."""
    meets = meets.tocsr()
    degrees = np.diff(meets.indptr)
    colours = np.full(len(degrees), -1)
    for node in np.argsort(-degrees, kind="stable"):
        if not degrees[node]:
            break
        near = colours[meets.indices[meets.indptr[node] : meets.indptr[node + 1]]]
        taken = np.zeros(len(near) + 1, bool)
        taken[near[(near >= 0) & (near <= len(near))]] = True
        colours[node] = int(np.argmin(taken))
    return colours


def scipy_sparse() -> Any:  # noqa: ANN401
    try:
        import scipy.sparse
    except ImportError:
        raise ToolchainError("sparse Jacobians need SciPy", hint="pip install scipy") from None
    return scipy.sparse
