"""Temporary folders that do not outlive their process: what a killed one leaves is removed when the next one starts."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "adgen-"
_LOCK = ".held"
"""In each folder a file that its process holds a lock on, which ends with the process however that ends."""


@contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """A folder, in the temporary one where no other is named, that is removed at the end, or by the next process."""
    _remove_abandoned(parent or Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=parent, ignore_cleanup_errors=True) as name:
        handle = _hold(Path(name))
        try:
            yield Path(name)
        finally:
            os.close(handle)


def _hold(folder: Path) -> int:
    """Lock the folder's file before it has its name, so that it is never seen without a lock."""
    fresh = folder / f"{_LOCK}.new"
    handle = os.open(fresh, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    fresh.rename(folder / _LOCK)
    return handle


def _remove_abandoned(parent: Path) -> None:
    for lock in parent.glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError):  # held, somebody else's, or gone
            handle = os.open(lock, os.O_RDWR)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
            finally:
                os.close(handle)
