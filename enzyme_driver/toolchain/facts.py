"""What was learnt about files, so that a tool is asked for its version, and a large file is hashed, only once."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path


class Facts:
    """Facts about files, remembered in a JSON file under path, size and time of change.

    A file that is missing, damaged, or cannot be written only costs time.
    """

    def __init__(self, store: Path) -> None:
        self._store = store
        self._known = _read(store)
        self._changed = False

    def about(self, path: Path, question: str, answer: Callable[[], str]) -> str:
        """The remembered answer to `question` about the file at `path`, or `answer()`, then remembered."""
        state = path.stat()
        key, seen = f"{question} {path}", f"{state.st_size} {state.st_mtime_ns}"
        known = self._known.get(key)
        if known is not None and known[0] == seen:
            return known[1]
        fresh = answer()
        self._known[key] = (seen, fresh)
        self._changed = True
        return fresh

    def digest(self, path: Path) -> str:
        """The SHA-256 of the file, in hexadecimal."""
        return self.about(path, "sha256", lambda: _sha256(path))

    def save(self) -> None:
        """Write what is new, by one rename."""
        if not self._changed:
            return
        with contextlib.suppress(OSError):
            self._store.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._store.parent, prefix=".facts-")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(self._known, file, indent=0)
                Path(name).replace(self._store)
                self._changed = False
            finally:
                Path(name).unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(store: Path) -> dict[str, tuple[str, str]]:
    """Answers by question and path, each with the state of the file that it is about."""
    try:
        known = json.loads(store.read_text(encoding="utf-8"))
        return {str(key): (str(seen), str(answer)) for key, (seen, answer) in known.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
