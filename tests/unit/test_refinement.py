"""Patterns out of passes over groups, where a matrix takes the place of compiled code."""

from __future__ import annotations

import secrets
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from enzyme_driver.errors import RefusedError
from enzyme_driver.runtime.transforms.colouring import coloured, without_common_rows
from enzyme_driver.runtime.transforms.refinement import Words, refined

sparse = pytest.importorskip("scipy.sparse")


class Passes:
    """What compiled code does, and how often."""

    def __init__(self, pattern: Any) -> None:  # noqa: ANN401
        self._pattern, self.count = pattern.tocsr(), 0

    def __call__(self, seeds: Words) -> Words:
        self.count += 1
        starts, columns = self._pattern.indptr, self._pattern.indices
        rows = [seeds[columns[a:b]] for a, b in pairwise(starts)]
        return np.array([np.bitwise_or.reduce(row, initial=np.uint64(0)) for row in rows], np.uint64)


@pytest.mark.parametrize("lane", [8, 16, 32, 64])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (40, 1), (17, 64), (64, 65), (50, 1000), (700, 300)])
@pytest.mark.parametrize("density", [0.0, 0.02, 1.0])
def test_any_pattern(lane: int, shape: tuple[int, int], density: float) -> None:
    rng = np.random.default_rng(secrets.randbits(31))
    wanted = sparse.random_array(shape, density=density, rng=rng, format="csr") != 0
    found = refined(Passes(wanted), *shape, lane)
    assert found.shape == shape
    assert (found.toarray() == wanted.toarray()).all()


def test_few_passes_where_outputs_depend_on_few_inputs() -> None:
    band = sparse.diags_array([np.ones(20000)] * 3, offsets=[-1, 0, 1], shape=(20000, 20000), format="csr")
    passes = Passes(band)
    found = refined(passes, 20000, 20000, 32)
    assert found.nnz == band.nnz
    assert passes.count < 10  # 625 without groups


@pytest.mark.parametrize("later", [[0, 0], [1, 1]])
def test_passes_that_contradict_each_other(later: list[int]) -> None:
    """What depended on a group depends on a part of it, and nothing else does."""
    answers = iter([[1, 0], later])

    def run(seeds: Words) -> Words:
        del seeds
        return np.array(next(answers), np.uint64)

    with pytest.raises(RefusedError, match="differs from one launch to the next"):
        refined(run, 2, 100, 8)


def test_sets_that_hold_everything() -> None:
    """Also elements that stand for no input."""
    found = refined(lambda seeds: np.full(3, 0xFF, np.uint64) * seeds.any(), 3, 37, 8)
    assert found.nnz == 3 * 37


def test_columns_of_one_colour_share_no_row() -> None:
    rng = np.random.default_rng(secrets.randbits(31))
    pattern = sparse.random_array((200, 150), density=0.03, rng=rng, format="csc") != 0
    colours = without_common_rows(pattern)
    for colour in range(colours.max() + 1):
        assert (pattern[:, colours == colour].sum(axis=1) <= 1).all()
    assert ((colours < 0) == (pattern.sum(axis=0) == 0)).all()


@pytest.mark.parametrize("transposed", [False, True])
def test_the_direction_with_fewer_colours(*, transposed: bool) -> None:
    wide = sparse.csr_array(np.kron(np.eye(4), np.ones((1, 8))))
    pattern = wide.T.tocsr() if transposed else wide
    known = coloured(pattern, pattern.shape)
    assert known.prefers_columns == transposed
