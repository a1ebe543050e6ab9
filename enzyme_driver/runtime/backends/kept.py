"""Whether the memory for what gradients keep holds no number before they run: what is read but was never kept shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

NO_NUMBER = 0xFF
"""Each byte: a floating-point number of such bytes is none, and an integer is -1."""

_wanted: ContextVar[bool] = ContextVar("keeps_no_numbers", default=False)


@contextmanager
def no_numbers_kept() -> Iterator[None]:
    """Inside, gradients that this thread of Python calls find no numbers in the memory for what they keep."""
    token = _wanted.set(True)
    try:
        yield
    finally:
        _wanted.reset(token)


def wants_no_numbers_kept() -> bool:
    return _wanted.get()
