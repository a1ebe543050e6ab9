"""How many OpenMP threads the calls of this thread of Python use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from enzyme_driver.errors import UsageError

_wanted: ContextVar[int | None] = ContextVar("wanted_threads", default=None)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Inside, primals and gradients on the host use `count` OpenMP threads, instead of what OMP_NUM_THREADS says.

    Raises UsageError for less than 1.
    """
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise UsageError(f"{count!r} is no number of threads", hint="give a whole number of at least 1")
    token = _wanted.set(count)
    try:
        yield
    finally:
        _wanted.reset(token)


def wanted_threads() -> int | None:
    """None where nothing was said."""
    return _wanted.get()
