"""Compiles adgen's own C++ and device code on this machine, once for every state of the sources."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from enzyme_driver import resources
from enzyme_driver.command import Runner, in_shell
from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain.progress import Progress
from enzyme_driver.toolchain.search import SETUP
from enzyme_driver.toolchain.values import LLVM_MAJOR, Problem, Tool, all_problems

COMPILE_TIMEOUT = 900.0
"""Seconds for one file: on a slow machine LLVM's headers alone take a while."""

AT_ONCE = 2
"""Compilers at a time; each takes up to a gigabyte of memory."""

COMMON_HEADERS = "Common.h"
"""In a room of C++: the headers that are read once for all files, where many files are compiled."""

MANY = 4
"""So many files cost more than reading the common headers once."""

ROOMS = ("passes", "worker", "rules", "host_runtime")

PLUGIN_FLAGS = ("-std=c++17", "-O1", "-fPIC", "-fno-rtti")
RULES_FLAGS = (
    *("-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_70"),
    *("-O1", "-emit-llvm", "-Wno-unknown-cuda-version"),
)
HOST_FLAGS = ("-std=c++17", "-O2", "-fPIC", "-fopenmp")

_INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_CHECKS = "#define LLVM_ENABLE_ABI_BREAKING_CHECKS "


@dataclass(frozen=True)
class OwnBuild:
    """The four files that adgen's own sources are compiled to."""

    folder: Path

    @property
    def passes(self) -> Path:
        return self.folder / "libadgen-passes.so"

    @property
    def worker(self) -> Path:
        return self.folder / "worker.so"

    @property
    def rules(self) -> Path:
        return self.folder / "rules.bc"

    @property
    def host_runtime(self) -> Path:
        return self.folder / "host_runtime.o"

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.passes, self.worker, self.rules, self.host_runtime)

    @property
    def complete(self) -> bool:
        return all(file.is_file() for file in self.files)


def own_build(settings: Settings, clang: Tool, cuda_root: Path) -> OwnBuild:
    """Where the build of the present sources by this clang lies, or will lie."""
    flags = (*PLUGIN_FLAGS, *RULES_FLAGS, *HOST_FLAGS)
    sources = (source for room in ROOMS for source in resources.own_sources(room))
    words = (clang.version, str(clang.prefix), str(cuda_root), *flags)
    return OwnBuild(settings.home / "build" / _digest(sources, words))


def build(settings: Settings, clang: Tool, cuda_root: Path, run: Runner, progress: Progress) -> OwnBuild:
    """The build of the present sources, made now unless it is there. Safe against a second process doing the same."""
    target = own_build(settings, clang, cuda_root)
    if target.complete:
        return target
    from filelock import FileLock

    parent = writable(target.folder.parent)
    with FileLock(parent / ".lock"):
        if not target.complete:
            _Workshop(clang, cuda_root, run, progress, parent).make(target)
    return target


def abi_header(clang: Tool) -> Path:
    """The header that says whether LLVM was built with its internal checks; it stands for all of LLVM's headers."""
    return clang.prefix / "include" / "llvm" / "Config" / "abi-breaking.h"


def missing_headers(clang: Tool) -> Problem | None:
    header = abi_header(clang)
    if header.is_file():
        return None
    reason = f"LLVM's headers were not found ({header}); adgen's passes are compiled with them"
    return Problem("LLVM headers", reason, f"{SETUP}, or on Debian `apt-get install llvm-{LLVM_MAJOR}-dev`")


def writable(folder: Path) -> Path:
    """The folder, made if need be; a ToolchainError where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as problem:
        raise ToolchainError(
            f"{folder} cannot be written: {problem.strerror}", hint="set ADGEN_HOME to a folder that can be written"
        ) from None


@dataclass(frozen=True)
class _Workshop:
    """What compiling needs; `parent` holds all builds, and the object files that they share."""

    clang: Tool
    cuda_root: Path
    run: Runner
    progress: Progress
    parent: Path

    def make(self, target: OwnBuild) -> None:
        """Build in a scratch folder beside the target, then publish by one rename."""
        missing = missing_headers(self.clang)
        if missing:
            raise all_problems([missing])
        with tempfile.TemporaryDirectory(dir=self.parent, prefix=".making-") as scratch_name:
            scratch = OwnBuild(Path(scratch_name) / "out")
            scratch.folder.mkdir()
            with self.progress.step("compiling adgen's LLVM passes"):
                self._passes(scratch.passes)
            with self.progress.step("compiling adgen's Enzyme worker, device rules and host runtime"):
                self._worker(scratch.worker)
                self._rules(scratch.rules)
                self._host_runtime(scratch.host_runtime)
            shutil.rmtree(target.folder, ignore_errors=True)
            scratch.folder.rename(target.folder)

    @property
    def _headers(self) -> Path:
        return self.clang.prefix / "include"

    def _tool(self, name: str) -> Path:
        return self.clang.prefix / "bin" / name

    def _passes(self, out: Path) -> None:
        objects = self._objects("passes", ".cpp", ("clang++", *PLUGIN_FLAGS, f"-I{self._headers}"))
        self._execute([self._tool("clang++"), "-shared", *objects, "-o", out])

    def _worker(self, out: Path) -> None:
        """The wheel's LLVM has its checks switched on, which changes the layout of classes in its headers."""
        shim = out.parent.parent / "shim"
        copy = shim / "llvm" / "Config" / "abi-breaking.h"
        copy.parent.mkdir(parents=True)
        text = abi_header(self.clang).read_text(encoding="utf-8")
        copy.write_text(text.replace(f"{_CHECKS}0", f"{_CHECKS}1"), encoding="utf-8")
        flags = (*PLUGIN_FLAGS, "-shared", f"-I{shim}", f"-I{self._headers}")
        self._execute([self._tool("clang++"), *flags, *_sources("worker", ".cpp"), "-o", out])

    def _rules(self, out: Path) -> None:
        """The CUDA root decides the PTX version; unnamed, clang would take that of any toolkit that is installed."""
        modules = self._objects("rules", ".cu", ("clang", *RULES_FLAGS, f"--cuda-path={self.cuda_root}"))
        self._execute([self._tool("llvm-link"), *modules, "-o", out])

    def _host_runtime(self, out: Path) -> None:
        objects = self._objects("host_runtime", ".cpp", ("clang++", *HOST_FLAGS))
        self._execute([self._tool("clang++"), "-r", "-nostdlib", *objects, "-o", out])

    def _objects(self, room: str, suffix: str, command: tuple[str, ...]) -> tuple[Path, ...]:
        """The compiled files of a room, two compilers at a time; a file that was compiled before is taken again."""
        from concurrent.futures import ThreadPoolExecutor

        folder = self.parent / "objects"
        folder.mkdir(exist_ok=True)
        about = (self.clang.version, *command)
        targets = {
            source: folder / f"{source.stem}-{_digest((source, *_headers_of(source)), about)}.o"
            for source in _sources(room, suffix)
        }
        missing = [source for source, target in targets.items() if not target.is_file()]
        with (
            tempfile.TemporaryDirectory(dir=self.parent, prefix=".headers-") as scratch,
            ThreadPoolExecutor(AT_ONCE) as pool,
        ):
            common = self._common_headers(room, command, Path(scratch)) if len(missing) >= MANY else ()

            def compile_one(source: Path) -> None:
                fresh = targets[source].with_suffix(".new")
                self._execute([self._tool(command[0]), *command[1:], *common, "-c", source, "-o", fresh])
                fresh.rename(targets[source])

            list(pool.map(compile_one, missing))
        return tuple(targets.values())

    def _common_headers(self, room: str, command: tuple[str, ...], scratch: Path) -> tuple[str, ...]:
        """The words by which a compiler takes the room's common headers, compiled now; none where the room has none.

        They are not kept: the compiler refuses them where a system's header was replaced meanwhile.
        """
        header = resources.PACKAGE / room / COMMON_HEADERS
        if not header.is_file():
            return ()
        compiled = scratch / f"{COMMON_HEADERS}.pch"
        how = ("-fpch-instantiate-templates", "-x", "c++-header")
        self._execute([self._tool(command[0]), *command[1:], *how, header, "-o", compiled])
        return ("-include-pch", str(compiled))

    def _execute(self, argv: Sequence[str | Path]) -> None:
        done = self.run(argv, timeout=COMPILE_TIMEOUT)
        if not done.ok:
            log = self.parent / "failed.log"
            log.write_text(f"$ {in_shell(argv)}\n{done.stdout}{done.stderr}", encoding="utf-8")
            raise ToolchainError(
                f"adgen's own code could not be compiled: {_first_error(done.stderr) or 'no message'}",
                hint="if clang or LLVM's headers were changed by hand, install them again",
                log=log,
            )


def _sources(room: str, suffix: str) -> tuple[Path, ...]:
    found = tuple(source for source in resources.own_sources(room) if source.suffix == suffix)
    if not found:
        raise ToolchainError(f"adgen's sources in {room} are missing", hint="install adgen again")
    return found


def _headers_of(source: Path) -> tuple[Path, ...]:
    """Every header of its own folder that a source includes, also by way of others, sorted by name."""
    found: set[Path] = set()
    waiting = [source]
    while waiting:
        names = _INCLUDED.findall(waiting.pop().read_text(encoding="utf-8"))
        fresh = {source.parent / name for name in names} - found
        headers = {header for header in fresh if header.is_file()}
        found |= headers
        waiting += headers
    return tuple(sorted(found))


def _digest(files: Iterable[Path], words: Iterable[str]) -> str:
    """A name for the content of these files, and these words."""
    text = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        text.update(f"{file.name} {len(content)}\n".encode() + content)
    for word in words:
        text.update(f"{word}\n".encode())
    return text.hexdigest()[:16]


def _first_error(stderr: str) -> str:
    return next((line for line in stderr.splitlines() if "error:" in line), stderr.strip().partition("\n")[0])
