"""How far the set-up is, told on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Progress(Protocol):
    """Told about each step that takes a while."""

    def step(self, text: str) -> AbstractContextManager[None]: ...


class OnStderr:
    """A spinner on a terminal; elsewhere one plain line for each step that has ended."""

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        from rich.console import Console

        console = Console(stderr=True, highlight=False)
        start = time.perf_counter()
        with console.status(f"adgen: {text}"):
            yield
        console.print(f"adgen: {text} ({time.perf_counter() - start:.1f} s)", markup=False, soft_wrap=True)
