"""The recorded steps, and the contents of memory that are kept so that each can be run again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from enzyme_driver.errors import UsageError
from enzyme_driver.runtime.backends.memory import Memory
from enzyme_driver.runtime.call.calls import RecordedAccess, RecordedStep
from enzyme_driver.runtime.tape.cells import Cell, Cells, Piece
from enzyme_driver.runtime.tape.checkpoints import Placement

Touched = Sequence[tuple[RecordedAccess, Cell]]
"""What a step uses: each argument with each of the cells behind it."""


class History:
    """Steps in order, and the contents that were copied before they were overwritten: at most `limit` bytes.

    Without a limit these are the contents that a step with a derivative has read. With one, they are states
    (`Placement`) from which the steps up to the next state can be run again.
    """

    def __init__(self, limit: int | None, *, check: bool) -> None:
        self.steps: list[RecordedStep] = []
        self.cells = Cells()
        self.limit = limit
        self.saved_bytes = 0
        self.peak_bytes = 0
        self._check = check
        self._placement = None if limit is None else Placement()

    @property
    def starts(self) -> Sequence[int]:
        """The steps before which enough is kept to run those up to the next of them."""
        return range(len(self.steps)) if self._placement is None else self._placement.steps

    def before(self, step: RecordedStep, memory: Memory) -> Touched:
        """Keep what the step is about to overwrite; the cells that it uses."""
        if self._check:
            self._verify_arguments(step, memory)
        if self._placement is not None:
            self._placement.add(len(self.steps))
        touched = self._touched(step)
        reads = {cell.start for access, cell in touched if access.reads and step.differentiated}
        arrays = {cell.start: (cell, access.array) for access, cell in touched if access.writes}
        for cell in self._with_room([cell for cell, _ in arrays.values()], reads):
            _, array = arrays[cell.start]
            block = memory.take(cell.size, array, cell.start)
            memory.copy(block.address, cell.start, cell.size)
            cell.saved[cell.version] = Piece(block)
            self.count(cell.size)
        return touched

    def after(self, step: RecordedStep, touched: Touched, memory: Memory) -> None:
        """Note what the step did, which has run."""
        number = len(self.steps)
        self.steps.append(step)
        for access, cell in touched:
            if access.writes and cell.writes[-1:] != [number]:
                cell.writes.append(number)
            if access.reads and step.differentiated and cell.reads[-1:] != [number]:
                cell.reads.append(number)
            if self._check and (access.writes or cell.checksum is None):
                cell.checksum = memory.checksum(cell.start, cell.size)

    def wanted(self, cell: Cell, version: int, before: int | None = None) -> bool:
        """Whether a step that can be started from (one below `before`) needs that content."""
        pins = cell.reads if self._placement is None else self._placement.steps
        return cell.wanted(version, pins, before)

    def take(self, cell: Cell, version: int) -> Piece:
        """A content that is not needed here any more."""
        self.count(-cell.size)
        return cell.saved.pop(version)

    def forget(self, start: int) -> None:
        """Give up what only the steps from `start` on need, which have been reversed."""
        cells = self.cells if self._placement else (cell for _, cell in self._touched(self.steps[start]))
        self._drop_unwanted(cells, start, before=start)

    def count(self, size: int) -> None:
        self.saved_bytes += size
        self.peak_bytes = max(self.peak_bytes, self.saved_bytes)

    def verify(self, memory: Memory) -> None:
        """Raise UsageError where something has been changed since, and steps have to read it again."""
        for cell in self.cells if self._check else ():
            if self.wanted(cell, cell.version) and cell.reads:
                _verify(cell, memory, "since it was recorded")

    def _verify_arguments(self, step: RecordedStep, memory: Memory) -> None:
        for access in step.accesses:
            for cell in self.cells.touching(access.start, access.end):
                _verify(cell, memory, f"before {access.name!r} of {step.name} was launched with it")

    def _touched(self, step: RecordedStep) -> Touched:
        for access in step.accesses:
            self.cells.cover(access.start, access.end)
        return [(each, cell) for each in step.accesses for cell in self.cells.within(each.start, each.end)]

    def _with_room(self, written: Sequence[Cell], reads: set[int]) -> list[Cell]:
        """Those of the cells that have to be copied now; states are given up until they fit."""
        while True:
            lost = [cell for cell in written if self._is_kept(cell) or (cell.start in reads and not self._placement)]
            needed = self.saved_bytes + sum(cell.size for cell in lost)
            if self.limit is None or needed <= self.limit:
                return lost
            self._make_room(needed)

    def _is_kept(self, cell: Cell) -> bool:
        return self.wanted(cell, cell.version)

    def _make_room(self, needed: int) -> None:
        given_up = self._placement.drop() if self._placement else None
        if given_up is None:
            raise UsageError(
                f"the tape's memory limit of {self.limit} bytes is below one state of the arrays that the launches "
                f"overwrite, which takes {needed} bytes up to here",
                hint=f"raise memory_limit to {needed} bytes or more (more states save launches), or leave it out",
            )
        self._drop_unwanted(self.cells, given_up)

    def _drop_unwanted(self, cells: Iterable[Cell], start: int, before: int | None = None) -> None:
        for cell in cells:
            version = cell.version_at(start)
            if version in cell.saved and not self.wanted(cell, version, before):
                self.take(cell, version)


def _verify(cell: Cell, memory: Memory, when: str) -> None:
    if cell.checksum is not None and memory.checksum(cell.start, cell.size) != cell.checksum:
        raise UsageError(
            f"an array on the tape was changed by something else than a recorded launch, {when}",
            hint="let a kernel do it, or tape.zero(array) where it is set to zero, or give the launches another array; "
            "Tape(check=False) does not look",
        )
