"""What the cache remembers of its builds: the files that the compiler read, and whether they are still the same."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

_BUILDS_KEPT = 8
_SETTLED_NS = 2_000_000_000


@dataclass(frozen=True)
class Dependency:
    """A file that the compiler read: its SHA-256, and its size, times and inode where those can be relied upon.

    An empty digest stands for a file that changed while the compiler ran, and fits no file.
    """

    path: str
    digest: str
    stat: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Build:
    """One build: the files it was made from, and the name of its entry."""

    entry: str
    files: tuple[Dependency, ...]


@dataclass(frozen=True)
class Index:
    """The builds under one key, the newest first."""

    key: tuple[tuple[str, str], ...]
    builds: tuple[Build, ...] = ()

    def with_build(self, build: Build) -> Index:
        others = tuple(known for known in self.builds if known.entry != build.entry)
        return replace(self, builds=(build, *others)[:_BUILDS_KEPT])

    @staticmethod
    def read(path: Path) -> Index | None:
        """None where there is no index or a damaged one: both mean that nothing is known."""
        try:
            data = json.loads(path.read_bytes())
            key = tuple((str(label), str(value)) for label, value in data["key"])
            return Index(key, tuple(_build(item) for item in data["builds"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, path: Path, scratch: Path) -> None:
        """Write `scratch` (on the same disk), then rename it to `path`."""
        scratch.write_text(json.dumps(asdict(self)), encoding="utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.replace(path)


def _build(item: dict[str, list[dict[str, object]]]) -> Build:
    return Build(str(item["entry"]), tuple(_dependency(file) for file in item["files"]))


def _dependency(item: dict[str, object]) -> Dependency:
    stat = item["stat"]
    return Dependency(str(item["path"]), str(item["digest"]), tuple(stat) if isinstance(stat, list) else None)


def dependency(path: str, started_ns: int) -> Dependency:
    """The file as it is now, for a compilation that began at `started_ns`.

    A file's times are coarse, so they count as proof of sameness only for a file that has not changed for a while.
    """
    try:
        facts = _facts(path)
        digest = _digest(path)
    except OSError:
        return Dependency(path, "")
    changed_ns = facts[2]
    if changed_ns > started_ns:
        return Dependency(path, "")
    return Dependency(path, digest, facts if changed_ns < time.time_ns() - _SETTLED_NS else None)


def unchanged(known: Dependency) -> bool:
    """Whether the file still has the bytes that the compiler read."""
    try:
        return bool(known.digest) and (_facts(known.path) == known.stat or _digest(known.path) == known.digest)
    except OSError:
        return False


def _facts(path: str) -> tuple[int, ...]:
    facts = os.stat(path)  # noqa: PTH116  (hundreds of files on every use: this is several times as quick)
    return facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino


def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
