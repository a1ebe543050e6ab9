"""Shadows on a tape that one launch has to itself: found zeroed (fresh), or left as they are (discarded)."""

from __future__ import annotations

from collections.abc import Iterable

from enzyme_driver.errors import RefusedError
from enzyme_driver.runtime.call.calls import RecordedStep
from enzyme_driver.runtime.tape.history import History

Extents = Iterable[tuple[int, int]]
"""Memory from an address to another."""

_LONE = frozenset({"fresh", "discarded"})


def refuse_used_before(step: RecordedStep, history: History) -> None:
    """Raise RefusedError where an array that the step discards holds something that steps before have to do with.

    Their cotangents would be lost, for afterwards its shadow holds anything.
    """
    for access in step.accesses:
        if access.activity == "discarded" and history.cells.touching(access.start, access.end):
            raise _refused(step.name, access.name, "discarded", "launches before have used this array as well")


def refuse_shared(history: History, active: set[int], outputs: Extents, wrt: Extents) -> None:
    """Raise RefusedError where one of the `active` steps would not find a shadow zeroed, or a lost one is wanted."""
    if not any(access.activity in _LONE for number in active for access in history.steps[number].accesses):
        return
    used = {cell.start for start, end in outputs for cell in history.cells.touching(start, end)}
    asked = {cell.start for start, end in wrt for cell in history.cells.touching(start, end)}
    for number in sorted(active, reverse=True):
        step = history.steps[number]
        cells = [
            (access, {cell.start for cell in history.cells.within(access.start, access.end)})
            for access in step.accesses
            if access.shadowed
        ]
        for access, own in cells:
            if access.activity == "fresh" and own & used:
                why = "its array is an output, or later launches have used it as well"
                raise _refused(step.name, access.name, "fresh", why)
            if access.activity == "discarded" and own & asked:
                why = "the derivative with respect to its array is asked for"
                raise _refused(step.name, access.name, "discarded", why)
        used.update(*(own for _, own in cells))


def _refused(step: str, name: str, activity: str, why: str) -> RefusedError:
    return RefusedError(
        f"{step} on a tape: the shadow of {name!r} is {activity}, but {why}",
        hint=f'give the launch an array of its own, or compile it without activity={{"{name}": "{activity}"}}',
    )
