"""Chains of Jacobians of any sizes, dense, sparse and as products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from enzyme_driver.errors import ArgumentError
from enzyme_driver.scan import cotangents, levels

pytestmark = pytest.mark.unit
sparse = pytest.importorskip("scipy.sparse")


def _chain(count: int, rng: np.random.Generator) -> tuple[list[Any], list[np.ndarray[Any, Any]]]:
    """Steps in all forms, and the dense matrix of each."""
    sizes = rng.integers(1, 9, count + 1)
    given: list[Any] = []
    dense = []
    for step in range(count):
        rows, columns = int(sizes[step + 1]), int(sizes[step])
        matrix = rng.standard_normal((rows, columns))
        thinned = sparse.csr_array(matrix * (rng.random((rows, columns)) < 0.4))
        scale = sparse.diags_array(rng.standard_normal(rows)).tocsr()
        forms = [(matrix, matrix), (thinned, thinned.toarray()), ((scale, matrix), scale @ matrix)]
        form, whole = forms[step % 3]
        given.append(form)
        dense.append(np.asarray(whole))
    return given, dense


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 7, 8, 13, 32])
@pytest.mark.parametrize("method", ["scan", "linear"])
def test_every_cotangent_is_the_linear_one(count: int, method: str) -> None:
    rng = np.random.default_rng(count)
    given, dense = _chain(count, rng)
    last = rng.standard_normal(dense[-1].shape[0] if dense else 3)
    found = cotangents(given, last, method=method)
    wanted = [last]
    for matrix in reversed(dense):
        wanted.append(matrix.T @ wanted[-1])
    assert len(found) == count + 1
    for one, other in zip(found, reversed(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_the_work_of_each_level_is_counted() -> None:
    diagonal, dense = sparse.eye_array(6).tocsr(), np.ones((6, 6))
    linear, *tree = levels([dense, diagonal, dense, diagonal])
    assert (linear.sweep, linear.products, linear.operations) == ("linear", 4, 84)
    assert [(each.sweep, each.products) for each in tree] == [("up", 2), ("down", 1), ("down", 2)]
    assert tree[0].operations == 72
    assert tree[0].largest == 36
    assert levels([dense, dense, dense])[1].operations == 216


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([np.ones((3, 2)), np.ones((4, 4))], r"step 1: a Jacobian of shape \(4, 4\) does not follow one of \(3, 2\)"),
        ([np.ones(3)], "step 0: a ndarray is no Jacobian"),
        ([np.ones((3, 2)), "J"], "step 1: a str is no Jacobian"),
        ([np.ones((2, 2))], r"last has the shape \(3,\)"),
    ],
)
def test_what_does_not_chain(steps: list[Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        cotangents(steps, np.ones(3))
