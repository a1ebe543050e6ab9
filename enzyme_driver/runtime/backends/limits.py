"""How many blocks of a launch run on the host: verifying a gradient need not take all of them. And what races in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, get_args

from enzyme_driver.errors import Location

ALL_BLOCKS = 2**63 - 1


@dataclass
class Limit:
    """The first `blocks` by their numbers; with `seconds` on one thread until these are over, `run` says how many."""

    blocks: int
    seconds: float = 0.0
    run: int = 0


RaceKind = Literal["different stores", "read of a store", "store after a read"]
RACES: tuple[RaceKind, ...] = get_args(RaceKind)
"""As host_runtime/races.h orders them."""


@dataclass(frozen=True)
class Race:
    """Two accesses of one element that nothing orders, the later one first; threads are (block, thread) by number."""

    kind: RaceKind
    where: Location
    before: Location
    thread: tuple[int, int]
    thread_before: tuple[int, int]
    address: int


_wanted: ContextVar[Limit | None] = ContextVar("limit_of_blocks", default=None)


@contextmanager
def limited(blocks: int, seconds: float = 0.0) -> Iterator[Limit]:
    """Inside, launches that this thread of Python makes on the host run no more than these blocks."""
    limit = Limit(blocks, seconds)
    token = _wanted.set(limit)
    try:
        yield limit
    finally:
        _wanted.reset(token)


def wanted_limit() -> Limit | None:
    """None where nothing was said."""
    return _wanted.get()
