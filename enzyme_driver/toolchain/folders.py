"""Folders of adgen's data: made where they are missing; an error with a way out where the disk does not take them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from enzyme_driver.errors import ToolchainError

ROOM = "set ADGEN_HOME to a folder on a disk that can be written and has 0.5 GB of room"


def writable(folder: Path) -> Path:
    """The folder, made if need be; a ToolchainError where it cannot be written."""
    with written(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder


@contextmanager
def written(folder: Path) -> Iterator[None]:
    """Turns what the system says of a folder that is read-only or full into a ToolchainError."""
    try:
        yield
    except OSError as problem:
        raise ToolchainError(f"{folder} cannot be written: {problem.strerror or problem}", hint=ROOM) from None
