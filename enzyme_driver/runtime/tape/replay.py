"""The gradient of a recorded computation: its steps from the last to the first, each from its own state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from enzyme_driver.errors import RefusedError
from enzyme_driver.model import DataType
from enzyme_driver.runtime.backends.memory import Block, Memory
from enzyme_driver.runtime.call.calls import RecordedAccess, RecordedStep
from enzyme_driver.runtime.call.layouts import numpy_dtype
from enzyme_driver.runtime.tape.checkpoints import schedule
from enzyme_driver.runtime.tape.history import History
from enzyme_driver.runtime.tape.regions import Places, joined
from enzyme_driver.runtime.tape.segment import Segment

_SLOT = 64  # bytes, which align any number

HostArray = np.ndarray[Any, np.dtype[Any]]


class Shadows(Places):
    """Zeroed memory beside everything that has a derivative, the same for all steps."""

    def __init__(self, accesses: Iterable[RecordedAccess], memory: Memory) -> None:
        super().__init__(joined(access for access in accesses if access.shadowed))
        self._blocks: list[Block] = []
        for number, region in enumerate(self.regions):
            block = memory.take(region.size, region.array, region.start)
            memory.zero(block.address, region.size)
            self._blocks.append(block)
            self.bases[number] = block.address


class OneElementShadows:
    """Zeroed memory for the derivatives of each step with respect to its numbers and structs by value."""

    def __init__(self, steps: Sequence[RecordedStep], memory: Memory) -> None:
        pairs = [(number, parameter) for number, step in enumerate(steps) for parameter in step.scalars]
        array = next((access.array for step in steps for access in step.accesses), None)
        size = max([_SLOT, *(-(-parameter.dtype.size // _SLOT) * _SLOT for _, parameter in pairs)])
        self._memory = memory
        self._block = memory.take(len(pairs) * size, array, 0)
        memory.zero(self._block.address, len(pairs) * size)
        self._slots: dict[int, dict[str, int]] = {}
        self._named: dict[str, list[tuple[int, DataType]]] = {}
        for position, (number, parameter) in enumerate(pairs):
            address = self._block.address + position * size
            self._slots.setdefault(number, {})[parameter.name] = address
            self._named.setdefault(parameter.name, []).append((address, parameter.dtype))

    def of(self, step: int) -> Mapping[str, int]:
        """The addresses by the names of parameters."""
        return self._slots.get(step, {})

    def values(self, name: str) -> HostArray:
        """What was added for each step that has this parameter, in order."""
        found = self._named[name]
        data = b"".join(self._memory.read(address, dtype.size) for address, dtype in found)
        return np.frombuffer(data, numpy_dtype(found[0][1])).copy()


@dataclass(frozen=True)
class Adjoints:
    """What a replay accumulates into; `numbers` holds the cotangents of what functions returned, by step."""

    shadows: Shadows
    scalars: OneElementShadows
    numbers: Mapping[int, float]


def reversed_through(history: History, adjoints: Adjoints, active: set[int], memory: Memory, *, retain: bool) -> int:
    """Add up all derivatives; how many steps were run again on the way, beside those inside gradients.

    `active` are the steps on which the outputs depend. What was kept is given up, unless `retain`.
    """
    count, stop = 0, len(history.steps)
    for start in reversed(history.starts):
        wanted = [number for number in range(start, stop) if number in active]
        if wanted:
            segment = Segment(history, memory, start, wanted[-1] + 1, retain=retain)
            count += _reversed(segment, history, adjoints, (start, wanted), memory)
        if not retain:
            history.forget(start)
        stop = start
    return count


def _reversed(
    segment: Segment, history: History, adjoints: Adjoints, steps: tuple[int, list[int]], memory: Memory
) -> int:
    start, wanted = steps
    count, length = 0, wanted[-1] + 1 - start
    segment.restore(start)
    for action in schedule(length, _snapshots(segment, history, length)):
        number = start + action.step
        if action.kind == "advance":
            count += segment.advance(number)
        elif action.kind == "store":
            segment.store()
        elif action.kind == "drop":
            segment.drop(number)
        elif action.kind == "restore":
            segment.restore(number)
        elif number in wanted:
            _differentiate(number, segment, history, adjoints, memory)
    return count


def _differentiate(number: int, segment: Segment, history: History, adjoints: Adjoints, memory: Memory) -> None:
    step, cotangent = history.steps[number], adjoints.numbers.get(number, 0.0)
    step.gradient(memory, segment.places, adjoints.shadows, adjoints.scalars.of(number), cotangent)


def _snapshots(segment: Segment, history: History, length: int) -> int:
    """How many states the segment may keep at once, its first one, which is kept already, included."""
    size = segment.snapshot_bytes
    if history.limit is None or size == 0:
        return length
    return min(length, 1 + max(0, history.limit - history.saved_bytes) // size)


def active_steps(history: History, outputs: Iterable[tuple[int, int]], numbers: Mapping[int, float]) -> set[int]:
    """The steps on which outputs depend: memory from an address to another, and numbers that steps returned.

    Raises RefusedError where such a dependence goes through an argument that was compiled without a derivative.
    """
    moving = {cell.start for start, end in outputs for cell in history.cells.touching(start, end)}
    active = set()
    for number in reversed(range(len(history.steps))):
        step = history.steps[number]
        touched = [(each, cell.start) for each in step.accesses for cell in history.cells.within(each.start, each.end)]
        reached = [access for access, cell in touched if access.writes and cell in moving]
        if not reached and number not in numbers:
            continue
        for access in reached:
            if not access.shadowed:
                raise RefusedError(
                    f"the output depends on what {step.name} writes to {access.name!r}, with respect to which no "
                    "derivative is taken",
                    hint=f'compile {step.name} with activity={{"{access.name}": "duplicated"}}',
                )
        active.add(number)
        moving |= {cell for access, cell in touched if access.reads and access.shadowed}
    return active
