"""The small C++ library that runs programs: compiled once by adgen's own clang, and called here through ctypes."""

from __future__ import annotations

import ctypes
import hashlib
import struct
import sys
import sysconfig
import tempfile
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from enzyme_driver import resources
from enzyme_driver.errors import AdgenError, ArtifactError, DeviceError, PrimalError, ToolchainError, UsageError
from enzyme_driver.frameworks.plan import Spec
from enzyme_driver.frameworks.program import Program

if TYPE_CHECKING:
    from enzyme_driver.frameworks.verified import Unverified

ROOM = "frameworks/native"
FLAGS = ("-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-ldl")
_OWN = {"xla.cpp", "torch.cpp", "stable.cpp"}
"""What only one library has, or only exported operators."""
_ROOM_FOR_MESSAGE = 2048
_ALIGNMENT = 256  # of scratch memory, as in native/program.cpp
_FAILURES: dict[int, type[AdgenError]] = {1: PrimalError, 2: DeviceError, 3: ArtifactError, 4: UsageError}
_HINTS = {
    1: "the message comes from the compiled code itself",
    2: "check grid, block and array sizes; if an earlier launch has failed, the process needs a new start",
    3: "compile it again",
    4: "see docs/frameworks.md",
}

ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_NO_ALLOCATE = ALLOCATE()


class Compiled:
    """A program that can be run: the arrays that it takes and makes, for one example of a batch."""

    def __init__(self, program: Program, operands: Sequence[Spec], results: Sequence[Spec]) -> None:
        self.operator = program.operator
        self.operands = tuple(operands)
        self.results = tuple(results)
        self.waits = program.waits
        self.scratch_bytes = sum(-(-size // _ALIGNMENT) * _ALIGNMENT for size in program.sizes[program.externals :])
        self.words, self.text, self.name = program.encoded()
        self._packed = struct.Struct(f"{program.externals}P").pack
        self._handle: ctypes.c_void_p | None = None
        self.kept: Any = None
        """What a library keeps with it for the next call."""
        self.unverified: Unverified | None = None

    def run(
        self,
        addresses: Sequence[int],
        *,
        device: int = -1,
        stream: int = 0,
        way: int = 0,
        allocate: Callable[[object, int], int] | None = None,
        batch: int = 1,
        batched: bytes | None = None,
        scratch: int = 0,
    ) -> None:
        """Run it on the memory of operands and results. Raises PrimalError, DeviceError, ArtifactError, UsageError.

        `device` is a GPU's number, or -1 for the host; `allocate` gives memory on it that lives until the stream has
        gone past this call. `batched` has a byte for each array: whether it holds `batch` examples. `scratch` is memory
        of `scratch_bytes`, where `allocate` is not to be asked for it.
        """
        handle = self._handle or self._loaded()
        asked = ALLOCATE(allocate) if allocate else _NO_ALLOCATE
        code = _library().adgen_program_run(
            handle, self._packed(*addresses), batched, batch, stream, device, way, asked, scratch
        )
        if code:
            raise _FAILURES[code](_library().adgen_program_message().decode(errors="replace"), hint=_HINTS[code])

    def _loaded(self) -> ctypes.c_void_p:
        words, text = array("q", self.words), self.text.encode()
        message = ctypes.create_string_buffer(_ROOM_FOR_MESSAGE)
        new = _library().adgen_program_new
        handle = new(words.buffer_info()[0], len(words), text, message, _ROOM_FOR_MESSAGE)
        if not handle:
            raise ArtifactError(message.value.decode(errors="replace"), hint=_HINTS[3])
        self._handle = ctypes.c_void_p(handle)
        return self._handle


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(library_path()))
    library.adgen_program_new.restype = ctypes.c_void_p
    library.adgen_program_new.argtypes = [
        *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
    ]
    library.adgen_program_run.restype = ctypes.c_int
    library.adgen_program_run.argtypes = [
        *(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64),
        *(ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint32, ALLOCATE, ctypes.c_void_p),
    ]
    library.adgen_program_message.restype = ctypes.c_char_p
    return library


@dataclass(frozen=True)
class Headers:
    """What a library needs beside its own sources: a folder of headers, one that says their version, and flags.

    `release` is the only one that the library goes with, if it goes with one alone.
    """

    folder: Path
    version: str
    flags: tuple[str, ...] = ()
    release: str = ""


XLA_VERSION = "xla/ffi/api/c_api.h"


def library_path(kind: Literal["programs", "xla", "torch"] = "programs", headers: Headers | None = None) -> Path:
    """The compiled library: that of programs alone, or with what XLA or PyTorch calls.

    One that lies beside the sources, as a wheel may bring it, is taken as it is. Raises ToolchainError.
    """
    name = f"libadgen-{kind}{headers.release if headers else ''}.so"
    shipped = resources.PACKAGE / ROOM / name
    return shipped if shipped.is_file() else _compiled(name, f"{kind}.cpp", headers)


def _compiled(name: str, own: str, headers: Headers | None) -> Path:
    from filelock import FileLock

    from enzyme_driver import command, toolchain
    from enzyme_driver.settings import Settings
    from enzyme_driver.toolchain import packages
    from enzyme_driver.toolchain.folders import writable, written

    settings = Settings.from_environment()
    clang = toolchain.ensure(settings).clang
    sources = [source for source in resources.own_sources(ROOM) if source.suffix == ".cpp"]
    chosen = [source for source in sources if source.name not in _OWN - {own}]
    flags = (*FLAGS, *packages.compile_flags(clang), *packages.link_flags(clang), *(headers.flags if headers else ()))
    words = (clang.version, *flags, *_headers_version(headers))
    folder = settings.home / "build" / f"operators-{_digest(resources.own_sources(ROOM), words)}"
    target = folder / name
    if target.is_file():
        return target
    with written(writable(folder)), FileLock(folder / ".lock"), tempfile.TemporaryDirectory(dir=folder) as scratch:
        if not target.is_file():
            made = Path(scratch) / name
            found = ("-isystem", str(headers.folder)) if headers else ()
            argv = [clang.prefix / "bin" / "clang++", *flags, *found, *chosen, "-o", made]
            done = command.run(argv, timeout=600.0)
            if not done.ok:
                first = next((line for line in done.stderr.splitlines() if "error:" in line), "no message")
                raise ToolchainError(
                    f"the library that runs operators could not be compiled: {first}", hint="run `adgen doctor`"
                )
            made.rename(target)
    return target


def _headers_version(headers: Headers | None) -> tuple[str, ...]:
    if headers is None:
        return ()
    version = (headers.folder / headers.version).read_bytes()
    return (hashlib.sha256(version).hexdigest(), sysconfig.get_platform(), sys.platform)


def _digest(files: Sequence[Path], words: Sequence[str]) -> str:
    text = hashlib.sha256()
    for file in files:
        if file.suffix in {".cpp", ".h"}:
            text.update(file.name.encode() + file.read_bytes())
    for word in words:
        text.update(f"\n{word}".encode())
    return text.hexdigest()[:16]
