"""The memory that recorded launches touch, in pieces that are always used as a whole, and what was kept of each."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from enzyme_driver.runtime.backends.memory import Block


@dataclass(frozen=True)
class Piece:
    """A part of a block of memory."""

    block: Block
    offset: int = 0

    @property
    def address(self) -> int:
        return self.block.address + self.offset


@dataclass
class Cell:
    """The memory from `start` to `end`. Its content has version v after v recorded launches have written to it.

    `writes` and `reads` are the numbers of the launches that do so, in ascending order; `saved` holds contents by
    version.
    """

    start: int
    end: int
    writes: list[int] = field(default_factory=list)
    reads: list[int] = field(default_factory=list)
    saved: dict[int, Piece] = field(default_factory=dict)
    checksum: int | None = None

    @property
    def size(self) -> int:
        """In bytes."""
        return self.end - self.start

    @property
    def version(self) -> int:
        """That of what the user's memory holds."""
        return len(self.writes)

    def version_at(self, launch: int) -> int:
        """The version on entry of that launch."""
        return bisect_left(self.writes, launch)

    def wanted(self, version: int, launches: Sequence[int], before: int | None = None) -> bool:
        """Whether it is the content on entry of one of these launches (below `before`), which ascend."""
        after = self.writes[version - 1] if version else -1
        position = bisect_right(launches, after)
        if position == len(launches) or (before is not None and launches[position] >= before):
            return False
        return version == self.version or launches[position] <= self.writes[version]

    def split(self, address: int) -> Cell:
        """Cut this cell there; the upper part."""
        offset = address - self.start
        saved = {version: Piece(piece.block, piece.offset + offset) for version, piece in self.saved.items()}
        upper = Cell(address, self.end, list(self.writes), list(self.reads), saved)
        self.end, self.checksum = address, None
        return upper


class Cells:
    """All cells, which never overlap, by ascending address."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._cells: list[Cell] = []

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells)

    def cover(self, start: int, end: int) -> list[Cell]:
        """The cells that make up this memory; cells at its ends are cut, and gaps become cells."""
        number = bisect_left(self._starts, start)
        if number < len(self._cells) and (self._cells[number].start, self._cells[number].end) == (start, end):
            return [self._cells[number]]
        self._cut(start)
        self._cut(end)
        position, reached = bisect_left(self._starts, start), start
        while reached < end:
            known = position < len(self._starts)
            following = min(self._starts[position], end) if known else end
            if reached < following:
                self._insert(position, Cell(reached, following))
            reached = self._cells[position].end
            position += 1
        return self.within(start, end)

    def touching(self, start: int, end: int) -> list[Cell]:
        """The cells that share memory with this."""
        first = max(0, bisect_right(self._starts, start) - 1)
        found = self._cells[first : bisect_left(self._starts, end)]
        return [cell for cell in found if cell.end > start]

    def within(self, start: int, end: int) -> list[Cell]:
        """The cells that lie in this memory, which recorded launches have cut already."""
        return self._cells[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def _cut(self, address: int) -> None:
        position = bisect_right(self._starts, address) - 1
        if position >= 0 and self._cells[position].start < address < self._cells[position].end:
            self._insert(position + 1, self._cells[position].split(address))

    def _insert(self, position: int, cell: Cell) -> None:
        self._starts.insert(position, cell.start)
        self._cells.insert(position, cell)
