"""The arguments of one call as the ABI takes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from enzyme_driver.runtime.call.accumulation import Accumulated
from enzyme_driver.runtime.call.arrays import ArrayView, is_jax
from enzyme_driver.runtime.call.packing import ArgumentTable
from enzyme_driver.runtime.call.slots import Slot


@dataclass(slots=True, eq=False)
class Value:
    """One argument as the ABI takes it; `view` where it is an array; `keep` holds what must outlive the call.

    `parts` are the members of a struct that was given as a dict, and the rows of a table. Not frozen, as `ArrayView`.
    """

    data: bytes
    view: ArrayView | None = None
    keep: object = None
    parts: tuple[tuple[Slot, Value], ...] = ()

    def arrays(self, slot: Slot) -> Iterator[tuple[Slot, ArrayView]]:
        """The arrays behind the value, each with the place that it fills."""
        if self.view is not None:
            yield slot, self.view
        for part, value in self.parts:
            yield from value.arrays(part)

    def ends(self, slot: Slot) -> Iterator[tuple[Slot, Value]]:
        """The value with its place; of one that has parts, those of its parts."""
        if not self.parts:
            yield slot, self
        for part, value in self.parts:
            yield from value.ends(part)

    def all(self) -> Iterator[Value]:
        """The value and, for a struct that was given as a dict or a table as a list, its parts'."""
        yield self
        for _, value in self.parts:
            yield from value.all()


@dataclass(frozen=True)
class VariableShadow:
    """The shadow of a variable, by its symbol: an array that is copied in and out, or the bytes of a struct."""

    symbol: str
    data: bytes
    view: ArrayView | None


@dataclass(frozen=True)
class PreparedArguments:
    """The arguments of a call in the order of the ABI, what is by value, the arrays, and the shadows of variables.

    `accumulated` are the shadows that threads may have copies of; the host wants to know them. Of a gradient on a GPU
    `overwritten` are the addresses and bytes of the arrays that its primal may write to, and `hidden` names a parameter
    in which there are pointers to others, if any; `shadow_bytes` are the sizes of the shadows.
    """

    values: tuple[bytes, ...]
    scalars: tuple[bytes, ...]
    views: tuple[ArrayView, ...]
    keep: tuple[object, ...]
    variables: tuple[VariableShadow, ...] = ()
    accumulated: tuple[Accumulated, ...] = ()
    overwritten: tuple[tuple[int, int], ...] | None = None
    hidden: str = ""
    shadow_bytes: tuple[int, ...] = ()

    @cached_property
    def table(self) -> ArgumentTable:
        """The values in memory; what is called only reads them."""
        return ArgumentTable(self.values)

    @cached_property
    def kept(self) -> dict[bool, Any]:
        """What a backend keeps with the arguments for another call."""
        return {}

    @cached_property
    def immutable(self) -> tuple[Any, ...]:
        """The arrays of JAX."""
        return tuple(value for value in self.keep if is_jax(value))

    def followed_by(self, value: bytes) -> PreparedArguments:
        """The same call with one more value at the end."""
        return replace(self, values=(*self.values, value))


def parts_of(values: Iterable[Value]) -> list[Value]:
    return [part for value in values for part in (value.all() if value.parts else (value,))]


def prepared(
    values: Sequence[Value],
    added_to: tuple[Accumulated, ...] = (),
    *,
    overwritten: tuple[tuple[int, int], ...] | None = None,
    hidden: str = "",
    shadow_bytes: tuple[int, ...] = (),
) -> PreparedArguments:
    """The call with these values, `added_to` being the shadows that are only added to on the host."""
    everything = parts_of(values)
    return PreparedArguments(
        tuple([value.data for value in values]),
        tuple([value.data for value in values if value.view is None]),
        tuple([value.view for value in everything if value.view is not None]),
        tuple([value.keep for value in everything]),
        accumulated=added_to,
        overwritten=overwritten,
        hidden=hidden,
        shadow_bytes=shadow_bytes,
    )
