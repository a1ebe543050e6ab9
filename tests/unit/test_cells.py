"""Memory in pieces: cells are cut where arguments begin and end, and know what is wanted of their past."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from enzyme_driver.runtime.backends.memory import Block
from enzyme_driver.runtime.tape.cells import Cell, Cells, Piece

EXTENTS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), min_size=1, max_size=12)


@given(EXTENTS)
def test_cells_tile_what_was_asked_for(extents: list[tuple[int, int]]) -> None:
    cells = Cells()
    for start, size in extents:
        found = cells.cover(start, start + size)
        assert found[0].start == start
        assert found[-1].end == start + size
        assert all(left.end == right.start for left, right in pairwise(found))
    covered = {address for start, size in extents for address in range(start, start + size)}
    spans = [range(cell.start, cell.end) for cell in cells]
    assert sorted(address for span in spans for address in span) == sorted(covered)
    for start, size in extents:
        assert cells.within(start, start + size) == cells.cover(start, start + size)


@given(EXTENTS, st.integers(0, 90), st.integers(1, 20))
def test_touching_cells_share_memory(extents: list[tuple[int, int]], start: int, size: int) -> None:
    cells = Cells()
    for low, count in extents:
        cells.cover(low, low + count)
    shared = [cell for cell in cells if cell.start < start + size and start < cell.end]
    assert cells.touching(start, start + size) == shared


def test_the_parts_of_a_cut_cell_keep_its_past() -> None:
    cells = Cells()
    (cell,) = cells.cover(100, 200)
    cell.writes.append(3)
    cell.saved[0] = Piece(Block(1000, None), 16)
    lower, upper = cells.cover(100, 130)[0], cells.cover(130, 200)[0]
    assert lower.saved[0].address == 1016
    assert upper.saved[0].address == 1046
    upper.writes.append(5)
    assert lower.writes == [3]


def test_versions() -> None:
    cell = Cell(0, 8, writes=[2, 5])
    assert [cell.version_at(launch) for launch in range(7)] == [0, 0, 0, 1, 1, 1, 2]
    assert cell.wanted(0, [2])
    assert not cell.wanted(0, [3])
    assert cell.wanted(1, [0, 5])
    assert not cell.wanted(1, [2, 6])
    assert cell.wanted(2, [6])
    assert not cell.wanted(2, [5])
