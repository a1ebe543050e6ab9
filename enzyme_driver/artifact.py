"""The artifact: a folder with the compiled gradient and its manifest. Nobody else knows the format."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NoReturn

from enzyme_driver import processor
from enzyme_driver.decode import DecodeError, decode
from enzyme_driver.errors import ArtifactError, CacheError
from enzyme_driver.model import BlockVariant, Entry, Mode, Target

FORMAT = "adgen-artifact"
VERSION = 1
MANIFEST = "manifest.json"

DEPENDENCIES = "dependencies.json"
"""In an artifact: the absolute paths of the files that the compiler read, a JSON list."""

_REBUILD = "compile it again with `adgen compile`"
_AT_CWD = -100
_EXCHANGE = 2


@dataclass(frozen=True)
class Source:
    """The file that was compiled; `sha256` in hexadecimal digits."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Options:
    """What the user asked for when the artifact was made."""

    flags: tuple[str, ...] = ()
    fast_math: bool = False
    activity: dict[str, str] = field(default_factory=dict)
    modes: tuple[Mode, ...] = ("reverse",)
    inactive: tuple[str, ...] = ()
    derivatives: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class HostBinary:
    """The shared library of the OpenMP target, as a file name in the folder; `cpu` is the instruction set it needs."""

    library: str
    sha256: str
    cpu: str = processor.PLAIN


@dataclass(frozen=True)
class CudaBinary:
    """The code for one GPU architecture, as file names in the folder; `sha256` is the cubin's.

    `toolkit` is the version of CUDA whose ptxas made the cubin: an older driver may not read it.
    `blocks` are the kernels that have variants for smaller or larger blocks: those and the kernel itself, for more and
    more threads; without the kernel where another one is better for all of its blocks.
    """

    cubin: str
    ptx: str
    sha256: str
    blocks: dict[str, tuple[BlockVariant, ...]] = field(default_factory=dict)
    toolkit: str = ""

    def for_block(self, kernel: str, threads: int) -> str:
        """The kernel, or its variant for blocks of so many threads."""
        return next((each.kernel for each in self.blocks.get(kernel, ()) if each.threads >= threads), kernel)


@dataclass(frozen=True)
class Binaries:
    """The compiled code; `cuda` by architecture (`sm_90`)."""

    openmp: HostBinary | None = None
    cuda: dict[str, CudaBinary] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """Everything an artifact says about itself; `adgen` is the version of adgen that made it."""

    adgen: str
    source: Source
    options: Options
    entries: tuple[Entry, ...]
    binaries: Binaries
    format: str = FORMAT
    version: int = VERSION


@dataclass(frozen=True)
class Contents:
    """What `write` makes an artifact of.

    `files` holds every file of the folder by name: its bytes, or the path it is copied from. `library` names the
    host library among them, `cuda` the cubin and the PTX of each architecture, `blocks` its `CudaBinary.blocks`,
    `toolkit` the version of ptxas.
    """

    adgen: str
    source: Source
    options: Options
    entries: tuple[Entry, ...]
    files: Mapping[str, bytes | Path]
    library: str | None = None
    cpu: str = processor.PLAIN
    cuda: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    blocks: Mapping[str, dict[str, tuple[BlockVariant, ...]]] = field(default_factory=dict)
    toolkit: str = ""


@dataclass(frozen=True)
class Artifact:
    """A checked artifact: its folder and its manifest."""

    folder: Path
    manifest: Manifest

    @property
    def entries(self) -> tuple[Entry, ...]:
        return self.manifest.entries

    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets that were built."""
        host: tuple[Target, ...] = ("openmp",) if self.manifest.binaries.openmp else ()
        device: tuple[Target, ...] = ("cuda",) if self.manifest.binaries.cuda else ()
        return host + device

    @property
    def archs(self) -> tuple[str, ...]:
        """The GPU architectures that the artifact has code for."""
        return tuple(self.manifest.binaries.cuda)

    def library(self) -> Path:
        """The host library, its bytes checked: a truncated one would end the process when it is loaded."""
        binary = self.manifest.binaries.openmp
        if binary is None:
            raise ArtifactError(f"{self.folder} holds no host library", hint="compile it with `-t openmp`")
        if not processor.runs(binary.cpu):
            raise ArtifactError(
                f"the host library of {self.folder} is compiled for {binary.cpu}, which this machine does not run",
                hint="compile it again on this machine with `adgen compile`",
            )
        self._checked(binary.library, binary.sha256)
        return self.folder / binary.library

    def cubin(self, arch: str) -> bytes:
        binary = self.manifest.binaries.cuda[arch]
        return self._checked(binary.cubin, binary.sha256)

    def ptx(self, arch: str) -> bytes:
        return _file_bytes(self.folder / self.manifest.binaries.cuda[arch].ptx)

    def _checked(self, name: str, sha256: str) -> bytes:
        data = _file_bytes(self.folder / name)
        if _digest(data) != sha256:
            raise ArtifactError(f"{self.folder / name} is not the file that was compiled", hint=_REBUILD)
        return data


def read(folder: Path | str) -> Artifact:
    """The artifact in `folder`. Raises ArtifactError for anything that `write` of this version does not make."""
    folder = Path(folder).absolute()
    artifact = Artifact(folder, _parsed(folder / MANIFEST))
    _check_names(artifact)
    return artifact


def _parsed(path: Path) -> Manifest:
    try:
        data = json.loads(_file_bytes(path))
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{path} is no JSON: {error}", hint=_REBUILD) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ArtifactError(f"{path} is not the manifest of an adgen artifact", hint=_REBUILD)
    if data.get("version") != VERSION or isinstance(data.get("version"), bool):
        raise ArtifactError(
            f"{path} has version {data.get('version')!r}; this adgen reads version {VERSION}", hint=_REBUILD
        )
    try:
        return decode(Manifest, data)
    except (DecodeError, RecursionError) as error:
        raise ArtifactError(f"{path} is damaged: {error}", hint=_REBUILD) from None


def _check_names(artifact: Artifact) -> None:
    binaries = artifact.manifest.binaries
    for arch in binaries.cuda:
        if not re.fullmatch(r"sm_\d{2,3}[af]?", arch):
            raise ArtifactError(f"{artifact.folder / MANIFEST} names no GPU architecture: {arch!r}", hint=_REBUILD)
    names = [name for binary in binaries.cuda.values() for name in (binary.cubin, binary.ptx)]
    for name in [*names, *([binaries.openmp.library] if binaries.openmp else [])]:
        if name in {"", ".", ".."} or "/" in name or "\0" in name:
            raise ArtifactError(f"{artifact.folder / MANIFEST} names a file outside: {name!r}", hint=_REBUILD)
        if not (artifact.folder / name).is_file():
            raise ArtifactError(f"{artifact.folder / name} is missing", hint=_REBUILD)


def _file_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        hint = f"give the folder that `adgen compile` made, or {_REBUILD}"
        raise ArtifactError(f"there is no {path}", hint=hint) from None
    except (OSError, ValueError) as error:
        raise ArtifactError(f"{path} cannot be read: {error}", hint="check the path and its permissions") from None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write(folder: Path | str, contents: Contents) -> Artifact:
    """Make the artifact beside `folder`, then rename it there: a reader sees the old one, the new one or none.

    Replaces an artifact and an empty folder; raises CacheError for any other folder, and where writing fails.
    """
    folder = Path(folder).absolute()
    _check_replaceable(folder)
    fresh = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    try:
        fresh.mkdir(parents=True)
        _fill(fresh, contents)
        _publish(fresh, folder)
    except OSError as error:
        _refuse(folder, error)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return read(folder)


def _check_replaceable(folder: Path) -> None:
    try:
        occupied = folder.exists() and not (folder.is_dir() and (not any(folder.iterdir()) or _is_artifact(folder)))
    except OSError as error:
        _refuse(folder, error)
    if occupied:
        raise CacheError(f"{folder} exists and is no adgen artifact", hint="give another output folder, or remove it")


def _is_artifact(folder: Path) -> bool:
    try:
        return FORMAT.encode() in (folder / MANIFEST).read_bytes()
    except OSError:
        return False


def _fill(folder: Path, contents: Contents) -> None:
    for name, data in contents.files.items():
        if isinstance(data, bytes):
            (folder / name).write_bytes(data)
        else:
            shutil.copy(data, folder / name)
    about = {"format": FORMAT, "version": VERSION}  # first, so that a truncated manifest is still known for one
    text = json.dumps(about | asdict(_manifest(folder, contents)), indent=1)
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def _manifest(folder: Path, contents: Contents) -> Manifest:
    def digest(name: str) -> str:
        return _digest((folder / name).read_bytes())

    library = contents.library
    host = HostBinary(library, digest(library), contents.cpu) if library else None
    device = {
        arch: CudaBinary(cubin, ptx, digest(cubin), contents.blocks.get(arch, {}), contents.toolkit)
        for arch, (cubin, ptx) in contents.cuda.items()
    }
    return Manifest(contents.adgen, contents.source, contents.options, contents.entries, Binaries(host, device))


def _publish(fresh: Path, folder: Path) -> None:
    try:
        fresh.rename(folder)
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise
        _exchange(fresh, folder)


def _exchange(fresh: Path, folder: Path) -> None:
    """Swap two folders in one step; the old artifact is then under the name of `fresh`."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = (os.fsencode(fresh), os.fsencode(folder))
    if libc.renameat2(_AT_CWD, names[0], _AT_CWD, names[1], _EXCHANGE) == 0:
        return
    code = ctypes.get_errno()
    if code != errno.EINVAL:
        raise OSError(code, os.strerror(code), str(folder))
    aside = fresh.with_name(f"{fresh.name}.old")  # this file system cannot swap
    folder.rename(aside)
    fresh.rename(folder)
    shutil.rmtree(aside, ignore_errors=True)


def _refuse(folder: Path, error: OSError) -> NoReturn:
    hint = "give an output folder on a disk that can be written and has room"
    raise CacheError(f"{folder} cannot be written: {error.strerror or error}", hint=hint) from None
