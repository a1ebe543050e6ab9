"""Compiled artifacts, kept by everything that went into them.

The key is a list of labelled values, so that a miss can be explained by a difference. Under it an index remembers, for
each build, the files that the compiler read and their digests (the compiler says which only after the fact) and
the entry: a folder that is published by one rename and never changed again.

    index/<key>.json      the key and its builds: files read, entry
    entries/<digest>/     an artifact
    locks/<key>.lock      held while one process compiles; the system releases it when that process ends
    building/             artifacts that are not published yet, and what is about to be deleted
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from enzyme_driver import artifact, processor, resources
from enzyme_driver.cache_index import Build, Index, dependency, unchanged
from enzyme_driver.errors import ArtifactError, CacheError
from enzyme_driver.request import Request
from enzyme_driver.scratch import scratch_folder
from enzyme_driver.settings import Settings, with_environment
from enzyme_driver.stages import source
from enzyme_driver.version import __version__

Key = tuple[tuple[str, str], ...]
Progress = Callable[[str], None] | None

_INCLUDE_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS")
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.ENOENT}
_ABANDONED_SECONDS = 3600.0
_SHORTEST_WAIT_SECONDS = 600.0


@dataclass(frozen=True)
class Difference:
    """Why an artifact was not found: the labelled value that was `was` then and `now` is."""

    label: str
    was: str
    now: str


@dataclass(frozen=True)
class Summary:
    """A number of entries and their size in bytes."""

    path: Path
    entries: int
    size: int


def build(request: Request, *, settings: Settings, use_cache: bool = True, progress: Progress = None) -> Path:
    """The folder of the request's artifact, compiled only if it is not there yet.

    Without the cache the folder is a temporary one that lives as long as the process. Raises what compiling raises,
    and CacheError where the folder cannot be written or another process does not get done with the same file.
    """
    if not use_cache:
        return _build_apart(request, settings, progress)
    rooms = Rooms(settings.cache_dir)
    key = make_key(request, settings)
    found = _find(rooms, key)
    if found is None:
        with _writable(rooms.root), _only_one(rooms, key, settings, progress):
            found = _find(rooms, key) or _build_and_publish(rooms, key, request, settings, progress)
    return found


def make_key(request: Request, settings: Settings) -> Key:
    """Everything that decides what is compiled, but for the files that the source includes."""
    from enzyme_driver import toolchain

    read = source.read(request)
    environment = with_environment({})
    return (
        ("adgen", __version__),
        ("adgen's code", _own_digest()),
        ("path", str(read.path)),
        ("source", read.digest),
        ("names", ", ".join(request.names)),
        ("targets", ", ".join(request.targets)),
        ("archs", ", ".join(request.archs)),
        ("instruction set of the host", processor.baseline() if "openmp" in request.targets else ""),
        ("modes", ", ".join(request.modes)),
        ("inactive", ", ".join(request.inactive)),
        ("derivatives", ", ".join("=".join(pair) for pair in request.derivatives)),
        ("activity", ", ".join(f"{name}={activity}" for name, activity in request.activity)),
        ("flags", json.dumps(request.flags)),
        ("folder of the flags", str(Path.cwd()) if request.flags else ""),
        ("fast_math", str(request.fast_math)),
        ("witness", request.witness or ""),
        ("primal suffices", str(request.primal_suffices)),
        ("disable", ", ".join(sorted(settings.disable))),
        *((variable, environment.get(variable, "")) for variable in _INCLUDE_VARIABLES),
        *toolchain.identity(toolchain.ensure(settings), settings),
    )


def explain(request: Request, *, settings: Settings) -> tuple[Difference, ...]:
    """Why `build` would compile this request now; nothing if it would not."""
    rooms, key = Rooms(settings.cache_dir), make_key(request, settings)
    if _find(rooms, key):
        return ()
    known = Index.read(rooms.index(key))
    if known and known.builds:
        return tuple(_changes(rooms, known.builds[0]))
    nearest = _nearest(rooms, key)
    if nearest is None:
        return (Difference("path", "never compiled with this cache", dict(key)["path"]),)
    was, now = dict(nearest.key), dict(key)
    labels = dict.fromkeys([*was, *now])
    return tuple(
        Difference(label, was.get(label, ""), now.get(label, ""))
        for label in labels
        if was.get(label, "") != now.get(label, "")
    )


def summary(settings: Settings) -> Summary:
    """What the cache holds."""
    rooms = Rooms(settings.cache_dir)
    entries = rooms.list_entries()
    return Summary(rooms.root, len(entries), sum(_size(entry) for entry in entries))


def clear(settings: Settings) -> Summary:
    """Delete every entry; what was deleted."""
    return prune(settings, max_size=0)


def prune(settings: Settings, *, max_age: float | None = None, max_size: int | None = None) -> Summary:
    """Delete the entries not used for `max_age` seconds, then the longest unused until `max_size` bytes are left."""
    rooms = Rooms(settings.cache_dir)
    if not rooms.root.is_dir():
        return Summary(rooms.root, 0, 0)
    with _writable(rooms.root):
        doomed = list(_to_prune(rooms, max_age, max_size))
        freed = sum(_size(entry) for entry in doomed)
        for entry in doomed:
            _discard(rooms, entry)
        _sweep(rooms)
    return Summary(rooms.root, len(doomed), freed)


@dataclass(frozen=True)
class Rooms:
    """Where things lie in the cache folder; the version in it changes with the layout."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "v1"

    @property
    def building(self) -> Path:
        return self.root / "building"

    @property
    def entries(self) -> Path:
        return self.root / "entries"

    def index(self, key: Key) -> Path:
        return self.root / "index" / f"{_key_digest(key)}.json"

    def lock(self, key: Key) -> Path:
        return self.root / "locks" / f"{_key_digest(key)}.lock"

    def list_entries(self) -> list[Path]:
        return sorted(self.entries.iterdir()) if self.entries.is_dir() else []

    def list_indices(self) -> list[Path]:
        return sorted((self.root / "index").glob("*.json"))


def _find(rooms: Rooms, key: Key) -> Path | None:
    """The entry of a build whose files are all as they were, undamaged."""
    index = Index.read(rooms.index(key))
    for known in index.builds if index else ():
        entry = rooms.entries / known.entry
        if entry.is_dir() and all(map(unchanged, known.files)) and _sound(entry):
            _mark_used(entry)
            return entry
    return None


def _sound(entry: Path) -> bool:
    """Whether the entry can be read and its binaries are those that were compiled."""
    try:
        made = artifact.read(entry)
        if "openmp" in made.targets:
            made.library()
        for arch in made.archs:
            made.cubin(arch)
    except ArtifactError:
        return False
    return True


def _mark_used(entry: Path) -> None:
    """For `prune`; a cache that can only be read is used all the same."""
    try:
        os.utime(entry)
    except OSError:
        return


def _build_and_publish(rooms: Rooms, key: Key, request: Request, settings: Settings, progress: Progress) -> Path:
    from enzyme_driver import pipeline

    started = time.time_ns()
    with _workplace(rooms) as folder:
        made = folder / "artifact"
        pipeline.build(request, made, settings=settings, progress=progress)
        files = tuple(dependency(path, started) for path in _dependencies(made))
        entry = _publish(rooms, key, made, files_digest=_digest([[file.path, file.digest] for file in files]))
        index = Index.read(rooms.index(key)) or Index(key)
        index.with_build(Build(entry.name, files)).write(rooms.index(key), folder / "index.json")
    return entry


def _dependencies(made: Path) -> list[str]:
    listed = json.loads((made / artifact.DEPENDENCIES).read_text(encoding="utf-8"))
    return sorted({str(path) for path in listed})


def _publish(rooms: Rooms, key: Key, made: Path, *, files_digest: str) -> Path:
    entry = rooms.entries / _digest([_key_digest(key), files_digest])
    entry.parent.mkdir(parents=True, exist_ok=True)
    if entry.exists() and not _sound(entry):
        _discard(rooms, entry)
    try:
        made.rename(entry)
    except OSError as problem:
        if problem.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise
    return entry


@contextmanager
def _workplace(rooms: Rooms) -> Iterator[Path]:
    """A folder beside the entries (so that a rename publishes), gone afterwards whatever happens."""
    rooms.building.mkdir(parents=True, exist_ok=True)
    with scratch_folder(rooms.building) as folder:
        yield folder


def _build_apart(request: Request, settings: Settings, progress: Progress) -> Path:
    from enzyme_driver import pipeline

    with _writable(Path(tempfile.gettempdir()), variable="TMPDIR"):
        held = ExitStack()
        atexit.register(held.close)
        made = held.enter_context(scratch_folder()) / "artifact"
        pipeline.build(request, made, settings=settings, progress=progress)
    return made


@contextmanager
def _only_one(rooms: Rooms, key: Key, settings: Settings, progress: Progress) -> Iterator[None]:
    """Hold the key's lock, so that of several processes one compiles and the others take what it made."""
    from filelock import FileLock, Timeout

    path = rooms.lock(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if progress:
            progress("another process compiles the same file, waiting for it")
        _wait(lock.acquire, max(_SHORTEST_WAIT_SECONDS, 10 * settings.timeout), path)
    try:
        yield
    finally:
        lock.release()


def _wait(acquire: Callable[..., object], seconds: float, path: Path) -> None:
    from filelock import Timeout

    try:
        acquire(timeout=seconds)
    except Timeout:
        raise CacheError(
            f"another process has been compiling the same file for {seconds:.0f} s",
            hint=f"end the process that holds {path}, or compile without the cache (--no-cache, cache=False)",
        ) from None


@contextmanager
def _writable(folder: Path, variable: str = "ADGEN_CACHE_DIR") -> Iterator[None]:
    """Turns what the system says of a folder that is read-only or full into a CacheError."""
    hint = f"set {variable} to a folder on a disk that can be written and has room"
    if variable == "ADGEN_CACHE_DIR":
        hint += ", or compile without the cache (--no-cache, cache=False)"
    try:
        yield
    except CacheError as problem:
        raise CacheError(problem.reason, hint=problem.hint if "no-cache" in problem.hint else hint) from None
    except OSError as problem:
        if problem.errno not in _UNWRITABLE:
            raise
        raise CacheError(f"{folder} cannot be written: {problem.strerror}", hint=hint) from None


def _changes(rooms: Rooms, known: Build) -> Iterator[Difference]:
    if not (rooms.entries / known.entry).is_dir():
        yield Difference("entry", known.entry, "deleted")
    elif not _sound(rooms.entries / known.entry):
        yield Difference("entry", known.entry, "damaged")
    for file in known.files:
        if not unchanged(file):
            now = "changed" if Path(file.path).exists() else "gone"
            yield Difference(f"included file {file.path}", file.digest[:12] or "changed while it was compiled", now)


def _nearest(rooms: Rooms, key: Key) -> Index | None:
    """The index for the same source file that has most in common with the key, the newest of equals."""
    wanted = set(key)
    known = [(path.stat().st_mtime_ns, Index.read(path)) for path in rooms.list_indices()]
    same = [(len(wanted & set(index.key)), when, index) for when, index in known if index]
    same = [match for match in same if dict(match[2].key).get("path") == dict(key)["path"]]
    return max(same, key=lambda match: match[:2])[2] if same else None


def _to_prune(rooms: Rooms, max_age: float | None, max_size: int | None) -> Iterator[Path]:
    left = 0
    oldest_wanted = time.time() - max_age if max_age is not None else 0.0
    for entry in sorted(rooms.list_entries(), key=_last_use, reverse=True):
        left += _size(entry)
        if _last_use(entry) < oldest_wanted or (max_size is not None and left > max_size):
            yield entry


def _last_use(folder: Path) -> float:
    return folder.stat().st_mtime


def _discard(rooms: Rooms, entry: Path) -> None:
    """Out of the readers' sight by one rename, then deleted."""
    rooms.building.mkdir(parents=True, exist_ok=True)
    grave = Path(tempfile.mkdtemp(dir=rooms.building))
    entry.rename(grave / entry.name)
    shutil.rmtree(grave, ignore_errors=True)


def _sweep(rooms: Rooms) -> None:
    """Delete what killed processes left behind, and the indices none of whose entries is there any more."""
    for folder in rooms.building.iterdir() if rooms.building.is_dir() else ():
        if time.time() - _last_use(folder) > _ABANDONED_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
    for path in rooms.list_indices():
        index = Index.read(path)
        if index is None or not any((rooms.entries / known.entry).is_dir() for known in index.builds):
            path.unlink(missing_ok=True)
            (rooms.root / "locks" / f"{path.stem}.lock").unlink(missing_ok=True)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _own_digest() -> str:
    """Of adgen's own code, so that a changed pass or template never meets an old entry."""
    return _digest([hashlib.sha256(path.read_bytes()).hexdigest() for path in _own_files()])


def _own_files() -> Iterable[Path]:
    return (*resources.own_sources("."), *sorted(resources.templates().iterdir()))


def _key_digest(key: Key) -> str:
    return _digest(key)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
