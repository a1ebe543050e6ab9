"""Gradients by some of the parameters only, in which the others have no derivative: compiled when one is asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from enzyme_driver.errors import AdgenError
from enzyme_driver.model import Parameter, Signature, is_inside, owner
from enzyme_driver.runtime.call.members import members
from enzyme_driver.runtime.call.slots import written

E = TypeVar("E")


class Narrower(Generic[E]):
    """What is compiled beside one entry, by the parameters that have no derivative in it; `compiled` makes it."""

    def __init__(self, signature: Signature, compiled: Callable[[tuple[str, ...]], E]) -> None:
        self._signature, self._compiled = signature, compiled
        self._entries: dict[tuple[str, ...], E | None] = {}
        self._known: dict[tuple[str, ...], E | None] = {}
        self._lock = threading.Lock()

    def __call__(self, wrt: tuple[str, ...] | str) -> E | None:
        """The entry whose gradient has no more than these; None where it is the whole one, or does not compile."""
        asked = (wrt,) if isinstance(wrt, str) else wrt
        if asked not in self._known:
            with self._lock:
                self._known[asked] = self._without(left_out(self._signature, asked))
        return self._known[asked]

    def _without(self, names: tuple[str, ...]) -> E | None:
        if names and names not in self._entries:
            try:
                self._entries[names] = self._compiled(names)
            except AdgenError:  # the whole gradient is there
                self._entries[names] = None
        return self._entries[names] if names else None


def left_out(signature: Signature, wrt: Iterable[str]) -> tuple[str, ...]:
    """The parameters, and arrays in structs, that are only read and not asked for; none where `wrt` is not known.

    Variables of the device belong to one compilation, so that no second one can stand for a kernel that has some.
    """
    asked = set(wrt)
    owners = {name.partition(".")[0] for name in asked}
    if signature.variables or not owners <= {parameter.name for parameter in signature.shadowed}:
        return ()
    inside = (member.parameter for p in signature.shadowed if p.form == "struct" for member in members(p))
    parts = (*(p for p in signature.shadowed if p.name not in owners), *(p for p in inside if p.has_shadow))
    return tuple(part.name for part in parts if _is_only_read(part) and not is_inside(part.name, asked))


def _is_only_read(part: Parameter) -> bool:
    """Whether it is numbers, or an array of them, that no cotangent comes in by."""
    by_value = not part.is_pointer and not part.reference and not part.by_address
    plain = by_value or (part.is_pointer and not written(part))
    ordered = set(part.orders) - {owner(part.name)}  # what is known of a struct is known of it as a whole
    return plain and not part.dtype.has_pointers and not part.added_to and not ordered
