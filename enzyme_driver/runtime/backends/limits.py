"""How many blocks of a launch run on the host: verifying a gradient need not take all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

ALL_BLOCKS = 2**63 - 1


@dataclass
class Limit:
    """The first `blocks` by their numbers; with `seconds` on one thread until these are over, `run` says how many."""

    blocks: int
    seconds: float = 0.0
    run: int = 0


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
