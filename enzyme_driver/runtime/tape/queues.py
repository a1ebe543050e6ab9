"""Queues of indices on a tape that runs launches again: they would have another order then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from enzyme_driver.errors import Location, RefusedError
from enzyme_driver.model import Parameter, Signature
from enzyme_driver.runtime.call.arrays import is_array
from enzyme_driver.runtime.call.members import flattened
from enzyme_driver.runtime.tape.query import seen


class Queues:
    """The queues that recorded launches have filled in the order in which threads arrived, by their addresses."""

    def __init__(self) -> None:
        self._filled: dict[int, Parameter] = {}

    def follow(self, signature: Signature, bound: Sequence[object], *, one_order: bool) -> None:
        """Raise RefusedError for a launch whose results have the order of such a queue."""
        for parameter, address in _arrays(signature, bound):
            queue = self._filled.get(address)
            if queue and parameter.orders:
                place = queue.queued
                raise RefusedError(
                    f"{signature.name} on a tape with a memory_limit: {parameter.orders[0]!r} gets the order of "
                    f"{queue.name!r}, which threads have filled in the order of their arrival: where the tape runs it "
                    "again, that is another one",
                    hint="give no memory_limit, or fill the queue before the tape records",
                    location=Location(place.file, place.line) if place else None,
                )
            if parameter.queued and not one_order:
                self._filled[address] = parameter


def _arrays(signature: Signature, bound: Sequence[object]) -> Iterator[tuple[Parameter, int]]:
    for parameter, value in zip(signature, bound, strict=True):
        for member, item in flattened(parameter, value):
            if (member.orders or member.queued) and is_array(item):
                yield member, seen(item, member.name).view.address
