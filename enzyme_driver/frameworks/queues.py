"""Queues of indices that one launch of an operator fills in the order in which threads arrive, and others read.

A vector-Jacobian product runs its launches again, where the queue has another order than it had when the operator's
results were made. That does no harm where a result is the same for every order, as a sum over what was queued; where a
result has the order of the queue, its cotangent belongs to another one.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from enzyme_driver.errors import Location, RefusedError
from enzyme_driver.frameworks.plan import Copying, Filling, PlannedLaunch
from enzyme_driver.model import Parameter
from enzyme_driver.runtime.call.arrivals import have_one_order

if TYPE_CHECKING:
    from enzyme_driver.frameworks.derive import Analysis

Filled = tuple[str, Parameter]
"""The kernel and its parameter, which is the queue."""


def check_order(analysis: Analysis, seeded: Collection[int]) -> None:
    """Raise RefusedError where an array among these, which have cotangents, has the order of a queue."""
    found = _in_order_of_arrival(analysis)
    for number in seeded:
        if number not in found:
            continue
        kernel, queue = found[number]
        place = queue.queued
        raise RefusedError(
            f"the operator {analysis.name}: {kernel} fills {queue.name!r} in the order in which threads arrive, which "
            f"is another one in each launch, and the result {analysis.plan.arrays[number].name!r} has that order: its "
            "gradient, which runs the launches again, would bring two of them together",
            hint="make the indices in an operator of their own, or outside, and give them to this one as an input; or "
            "compute the place from the thread's number, such as by a scan",
            location=Location(place.file, place.line) if place else None,
        )


def _in_order_of_arrival(analysis: Analysis) -> dict[int, Filled]:
    """The arrays whose elements follow the order of a queue, and which one."""
    found: dict[int, Filled] = {}
    for move in analysis.moves:
        if isinstance(move, Filling):
            found.pop(move.target, None)
        elif isinstance(move, Copying):
            found.pop(move.target, None)
            if move.source in found:
                found[move.target] = found[move.source]
        else:
            found |= _left_by(analysis, move, found)
    return found


def _left_by(analysis: Analysis, move: PlannedLaunch, before: dict[int, Filled]) -> dict[int, Filled]:
    unit, uses = analysis.units(move.name, ()), analysis.uses(move)
    followed = {name: before[use.number] for use in uses if use.number in before for name in use.parameter.orders}
    left: dict[int, Filled] = {}
    for use in uses:
        if use.writes and (origin := followed.get(use.parameter.name.partition(".")[0])):
            left[use.number] = origin
        whole = use.parameter.queued and not use.parameter.dtype.has_floats
        if whole and not have_one_order(move.launch(unit.signature), unit.target, None):
            left[use.number] = (move.name, use.parameter)
    return left
