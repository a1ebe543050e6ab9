"""Chains of Jacobians of any sizes, dense or sparse: Blelloch's scan with the operator A ◇ B = BA, after BPPSA (2020).

The up-sweep multiplies neighbours level by level; the down-sweep carries the last cotangent from the root to the steps,
by one product of a matrix and a vector a node. Products on one level do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError

MATRIX_AXES = 2
FULL = 0.25
"""Of its entries, from which on a sparse matrix is dense."""


@dataclass(frozen=True)
class Level:
    """What one level does: "up" multiplies matrices, "down" and "linear" matrices and vectors. Multiply-adds of all
    products together, and of the largest one, which is what the level waits for where all run side by side.
    """

    sweep: str
    products: int
    operations: int
    largest: int


def factors(jacobians: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """The matrices of all steps in order, and where each step begins among them; a tuple is a product, the last first.

    Raises ArgumentError, which names the step, for what is no matrix and for shapes that do not chain.
    """
    matrices: list[Any] = []
    begins = []
    for step, given in enumerate(jacobians):
        begins.append(len(matrices))
        parts = list(reversed(given)) if isinstance(given, tuple) else [given]
        for part in parts:
            if getattr(part, "ndim", None) != MATRIX_AXES:
                raise ArgumentError(
                    f"step {step}: a {type(part).__name__} is no Jacobian",
                    hint="give matrices: dense ones, sparse ones of SciPy or CuPy, or tuples of them for products",
                )
            if matrices and part.shape[1] != matrices[-1].shape[0]:
                raise ArgumentError(
                    f"step {step}: a Jacobian of shape {tuple(part.shape)} does not follow one of "
                    f"{tuple(matrices[-1].shape)}",
                    hint="its columns are the state before the step, its rows the state after it",
                )
            matrices.append(part)
    return matrices, begins


def cotangents(jacobians: Sequence[Any], last: Any, *, method: str = "scan") -> list[Any]:  # noqa: ANN401
    """The cotangents of all states, one more than steps, the first state's first."""
    matrices, begins = factors(jacobians)
    if matrices and tuple(last.shape) != (matrices[-1].shape[0],):
        raise ArgumentError(
            f"last has the shape {tuple(last.shape)}, the last Jacobian {tuple(matrices[-1].shape)}",
            hint="give a vector with an element for each of its rows",
        )
    behind = _linear(matrices, last) if method == "linear" else _scanned(matrices, last)
    return [behind[begin] for begin in begins] + [last]


def _linear(matrices: Sequence[Any], last: Any) -> list[Any]:  # noqa: ANN401
    found = [last]
    for matrix in reversed(matrices):
        found.append(matrix.T @ found[-1])
    return found[:0:-1]


def _scanned(matrices: Sequence[Any], last: Any) -> list[Any]:  # noqa: ANN401
    """The cotangent before each matrix."""
    if not matrices:
        return []
    behind = [last]
    for level in reversed(_up_sweep(matrices)):
        below: list[Any] = []
        for node, cotangent in enumerate(behind):
            pair = level[2 * node : 2 * node + 2]
            below += [pair[1].T @ cotangent, cotangent] if len(pair) > 1 else [cotangent]
        behind = below
    return [matrices[0].T @ behind[0], *behind[:-1]]


def _up_sweep(matrices: Sequence[Any]) -> list[list[Any]]:
    """The matrices, products of two, of four, ...; that of all is not needed."""
    levels = [list(matrices)]
    while len(levels[-1]) > 2:  # noqa: PLR2004  (the root's two children)
        level = levels[-1]
        pairs = [_product(level[at + 1], level[at]) for at in range(0, len(level) - 1, 2)]
        levels.append(pairs + level[len(level) - len(level) % 2 :])
    return levels


def _product(later: Any, earlier: Any) -> Any:  # noqa: ANN401
    """A sparse one of SciPy that has filled up is dense."""
    made = later @ earlier
    filled = type(made).__module__.startswith("scipy.sparse") and made.nnz > FULL * made.shape[0] * made.shape[1]
    return made.toarray() if filled else made


def levels(jacobians: Sequence[Any]) -> list[Level]:
    """What each level of the scan does, and, as the first one, what linear back-propagation does."""
    matrices, _ = factors(jacobians)
    alone = [_entries(matrix) for matrix in matrices]
    found = [Level("linear", len(alone), sum(alone), sum(alone))]
    tree = _up_sweep(matrices) if matrices else []
    for level in tree[:-1]:
        costs = [_multiplications(later, earlier) for earlier, later in list(pairwise(level))[::2]]
        found.append(Level("up", len(costs), sum(costs), max(costs)))
    for level in reversed(tree):
        costs = [_entries(matrix) for matrix in level[1::2]]
        found.append(Level("down", len(costs), sum(costs), max(costs, default=0)))
    return found


def _entries(matrix: Any) -> int:  # noqa: ANN401
    return int(matrix.nnz if hasattr(matrix, "nnz") else matrix.size)


def _multiplications(later: Any, earlier: Any) -> int:  # noqa: ANN401
    """Of `later @ earlier`: for each element in between, the entries of its column times those of its row."""
    return int(_counts(later, 0) @ _counts(earlier, 1))


def _counts(matrix: Any, axis: int) -> Any:  # noqa: ANN401
    """Entries along an axis, for each index of the other."""
    if not hasattr(matrix, "nnz"):
        return np.full(matrix.shape[1 - axis], matrix.shape[axis], np.int64)
    host = (matrix.get() if type(matrix).__module__.startswith("cupyx") else matrix).tocsr()
    if axis == 1:
        return np.diff(host.indptr).astype(np.int64)
    return np.bincount(host.indices, minlength=host.shape[1]).astype(np.int64)
