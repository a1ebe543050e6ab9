"""How the host's threads add to a shadow element where they may meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from enzyme_driver.errors import UsageError
from enzyme_driver.runtime.call.arrays import ArrayView
from enzyme_driver.runtime.call.layouts import Layout
from enzyme_driver.runtime.call.slots import Slot, written

WAYS = {"auto": 0, "private": 1, "atomic": 2, "deterministic": 3}
"""By name, the numbers of host_runtime/accumulation.h."""

_NUMBERS = {4, 8}
_wanted: ContextVar[str] = ContextVar("wanted_accumulation", default="auto")


@contextmanager
def accumulation(way: str) -> Iterator[None]:
    """Inside, gradients on the host add to the shadows in this way, where several threads may add to one element.

    `"private"`: each thread into a copy of its own, and the copies are added up at the end. `"atomic"`: into the shadow
    itself. `"auto"` (what is done otherwise): copies of shadows of up to 64 MiB (4 MiB for kernels launched in one
    dimension, and an element of all copies for 4 CUDA threads), where those above 4 MiB take memory only where a
    thread adds something. `"deterministic"`: copies, added
    up in the order of the threads, so that the same number of threads gives the same bits; a gradient that has to add
    to other memory as well runs on one thread. Raises UsageError for any other word.
    """
    if way not in WAYS:
        near = get_close_matches(str(way), WAYS)
        hint = f"did you mean {near[0]!r}?" if near else f"give one of {', '.join(map(repr, WAYS))}"
        raise UsageError(f"{way!r} is no way to accumulate", hint=hint)
    token = _wanted.set(way)
    try:
        yield
    finally:
        _wanted.reset(token)


def wanted_accumulation() -> str:
    return _wanted.get()


@dataclass(frozen=True)
class Accumulated:
    """A shadow that can be copied: where it begins, its bytes, and those of a number in it.

    `argument` is the place among the gradient's arguments; None for an array in a struct, and for that of an array that
    the primal writes: to all others a gradient does nothing but add.
    """

    argument: int | None
    start: int
    number: int
    nbytes: int


def accumulated(shadows: Iterable[tuple[int | None, Slot, ArrayView]]) -> tuple[Accumulated, ...]:
    """Those of the shadows that can be copied; with each comes which argument of the gradient it is, if it is one."""
    found = []
    for argument, slot, view in shadows:
        number = _number(view.layout)
        if number:
            alone = None if written(slot.parameter) else argument
            found.append(Accumulated(alone, view.address, number, view.nbytes))
    return tuple(found)


@lru_cache(maxsize=256)
def _number(layout: Layout) -> int | None:
    """The bytes of the numbers in such an element; None where copies of them cannot be added up as one array."""
    size, leaves = layout
    floats = {leaf.size for leaf in leaves if leaf.kind == "f"}
    (number,) = floats if len(floats) == 1 else (0,)
    fits = number in _NUMBERS and size % number == 0
    return number if fits and all(leaf.offset % number == 0 for leaf in leaves if leaf.kind == "f") else None
