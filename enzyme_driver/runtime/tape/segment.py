"""A few steps that follow a kept state, run again on memory of their own."""

from __future__ import annotations

from dataclasses import dataclass, field

from enzyme_driver.runtime.backends.memory import Block, Memory
from enzyme_driver.runtime.tape.cells import Cell
from enzyme_driver.runtime.tape.history import History
from enzyme_driver.runtime.tape.regions import Places, Region, joined


@dataclass
class _Part:
    """A region that the steps use: which cells of it they read, whether they write to it, and its own memory."""

    region: Region
    cells: list[Cell]
    read: list[Cell]
    written: bool
    block: Block | None = None
    snapshots: dict[int, Block] = field(default_factory=dict)

    @property
    def whole(self) -> Cell | None:
        """Its cell, where it has one only."""
        return self.cells[0] if len(self.cells) == 1 else None


class Segment:
    """The steps from `start` up to `stop`; the user's arrays stay as they are.

    What the steps only read is used where it is, and copied content that nothing else needs is given to them.
    """

    def __init__(self, history: History, memory: Memory, start: int, stop: int, *, retain: bool) -> None:
        self._history = history
        self._memory = memory
        self._start = start
        self._may_take = stop == start + 1 and not retain
        accesses = [access for step in history.steps[start:stop] for access in step.accesses]
        self.places = Places(joined(accesses))
        reads = [(access.start, access.end) for access in accesses if access.reads]
        writes = [(access.start, access.end) for access in accesses if access.writes]
        self._parts = [self._part(region, reads, writes) for region in self.places.regions]
        self._at = start

    def _part(self, region: Region, reads: list[tuple[int, int]], writes: list[tuple[int, int]]) -> _Part:
        cells = self._history.cells.within(region.start, region.end)
        read = [cell for cell in cells if any(low <= cell.start < high for low, high in reads)]
        return _Part(region, cells, read, any(region.start <= low < region.end for low, _ in writes))

    @property
    def snapshot_bytes(self) -> int:
        """What it takes to keep a state between two steps."""
        return sum(part.region.size for part in self._parts if part.written and part.read)

    def restore(self, step: int) -> None:
        """Go to the state before that step: the first one or a stored one."""
        for number, part in enumerate(self._parts):
            if step == self._start:
                self.places.bases[number] = self._base(part)
            elif part.written and part.read:
                self._memory.copy(self.places.bases[number], part.snapshots[step].address, part.region.size)
        self._at = step

    def advance(self, step: int) -> int:
        """Run the steps up to that one; their number."""
        count = step - self._at
        for each in self._history.steps[self._at : step]:
            each.primal(self._memory, self.places)
        self._at = step
        return count

    def store(self) -> None:
        """Keep the state before the next step."""
        for base, part in zip(self.places.bases, self._parts, strict=True):
            if part.written and part.read:
                block = self._memory.take(part.region.size, part.region.array, part.region.start)
                self._memory.copy(block.address, base, part.region.size)
                part.snapshots[self._at] = block
        self._history.count(self.snapshot_bytes)

    def drop(self, step: int) -> None:
        """Give up a stored state."""
        for part in self._parts:
            part.snapshots.pop(step, None)
        self._history.count(-self.snapshot_bytes)

    def _base(self, part: _Part) -> int:
        """Where the steps find the content of a part as it was before the first of them."""
        if not part.written and all(map(self._is_live, part.cells)):
            return part.region.start
        cell = part.whole
        if cell is not None and not self._is_live(cell) and part.read:
            version = cell.version_at(self._start)
            if not part.written:
                return cell.saved[version].address
            if self._may_take and not self._history.wanted(cell, version, before=self._start):
                piece = self._history.take(cell, version)
                part.block = piece.block
                return piece.address
        return self._copied(part)

    def _is_live(self, cell: Cell) -> bool:
        """Whether the user's memory still holds what was there before the first step."""
        return cell.version_at(self._start) == cell.version

    def _copied(self, part: _Part) -> int:
        region = part.region
        if part.block is None:
            part.block = self._memory.take(region.size, region.array, region.start)
        base = part.block.address
        for cell in part.read:
            source = cell.start if self._is_live(cell) else cell.saved[cell.version_at(self._start)].address
            self._memory.copy(base + cell.start - region.start, source, cell.size)
        return base
