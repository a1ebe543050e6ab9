"""A pattern out of few passes, each of which tells for every output which of some groups of inputs it depends on.

All inputs are one group at first. A group is cut into as many parts as a set has elements, and groups that no output
depends on together are cut in the same pass, as columns without a common row share a direction: where each output
depends on few inputs, the passes are some for each level, and not one for every so many inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from enzyme_driver.errors import RefusedError
from enzyme_driver.runtime.transforms.colouring import scipy_sparse, without_common_rows

Words = np.ndarray[Any, np.dtype[np.uint64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Pass = Callable[[Words], Words]
"""For each input the set that it begins with, for each output the union of the sets that it depends on."""


@dataclass(frozen=True)
class _Groups:
    """Groups of `size` inputs by their first ones, in order, and which outputs depend on which.

    Whether they do is not known of the one group at the beginning.
    """

    size: int
    first: Integers
    rows: Integers
    columns: Integers
    known: bool = True


def refined(run: Pass, outputs: int, inputs: int, lane: int) -> Any:  # noqa: ANN401
    """The pattern as CSR of ones. Raises RefusedError where two passes contradict each other."""
    if not outputs or not inputs:
        return scipy_sparse().csr_array((outputs, inputs), dtype=np.int8)
    size = 1
    while size < inputs:
        size *= lane
    groups = _Groups(size, np.zeros(1, np.int64), np.arange(outputs), np.zeros(outputs, np.int64), known=False)
    groups = groups if size > 1 else _cut(run, groups, outputs, inputs, 1)
    while groups.size > 1 and len(groups.first):
        groups = _cut(run, groups, outputs, inputs, lane)
    entries = (np.ones(len(groups.rows), np.int8), (groups.rows, groups.first[groups.columns]))
    return scipy_sparse().csr_array(entries, shape=(outputs, inputs))


def _cut(run: Pass, groups: _Groups, outputs: int, inputs: int, parts: int) -> _Groups:
    """Each group in as many parts."""
    shape = (outputs, len(groups.first))
    ones = np.ones(len(groups.rows), np.int8)
    colours = without_common_rows(scipy_sparse().csc_array((ones, (groups.rows, groups.columns)), shape=shape))
    size = groups.size // parts
    number = np.arange(inputs)
    owner = np.searchsorted(groups.first, number, side="right") - 1
    offset = number - groups.first[owner]
    colour_of_input = np.where((owner >= 0) & (offset < groups.size), colours[owner], -1)
    elements = np.uint64(1) << (offset // size).astype(np.uint64)
    found = [
        _pass(run, groups, colours == colour, np.where(colour_of_input == colour, elements, 0), outputs, size)
        for colour in range(int(colours.max(initial=-1)) + 1)
    ]
    rows, starts = (np.concatenate([np.zeros(0, np.int64), *(each[at] for each in found)]) for at in (0, 1))
    first, columns = np.unique(starts, return_inverse=True)
    return _Groups(size, first, rows, columns)


def _pass(
    run: Pass, groups: _Groups, carried: np.ndarray[Any, Any], seeds: Words, outputs: int, size: int
) -> tuple[Integers, Integers]:
    """Which outputs depend on which parts of the groups that are carried: rows, and the parts' first inputs."""
    whole = np.full(outputs, -1)
    entries = carried[groups.columns]
    whole[groups.rows[entries]] = groups.first[groups.columns[entries]]
    sets = run(seeds)
    rows = np.flatnonzero(sets)
    if groups.known and ((whole >= 0) != (sets != 0)).any():
        raise RefusedError(
            "what depends on what differs from one launch to the next",
            hint="the results depend on the order of the threads: give the pattern",
        )
    bits = np.unpackbits(sets[rows].view(np.uint8).reshape(len(rows), 8), axis=1, bitorder="little")
    at, element = np.nonzero(bits)
    return rows[at], whole[rows[at]] + element * size
