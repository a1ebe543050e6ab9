"""Compiles adgen's own C++ and device code on this machine, once for every state of the sources."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import tempfile
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from enzyme_driver import resources
from enzyme_driver.command import Runner, keep
from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import packages
from enzyme_driver.toolchain.folders import ROOM, writable, written
from enzyme_driver.toolchain.groups import grouped
from enzyme_driver.toolchain.progress import Progress
from enzyme_driver.toolchain.search import SETUP
from enzyme_driver.toolchain.values import LLVM_MAJOR, Problem, Tool

COMPILE_TIMEOUT = 900.0
"""Seconds for one file: on a slow machine LLVM's headers alone take a while."""

AT_ONCE = 2
"""Compilers at a time; each takes up to a gigabyte of memory."""

COMMON_HEADERS = "Support/Common.h"
"""In a room of C++: the headers that are read once for all files, where many files are compiled, in groups."""

MANY = 4
"""So many compilations cost more than reading the common headers once."""

ROOMS = ("passes", "worker", "rules", "host_runtime")

PLUGIN_FLAGS = ("-std=c++17", "-O1", "-fPIC", "-fno-rtti", "-fno-exceptions")
RULES_FLAGS = (
    *("-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_70"),
    *("-O1", "-emit-llvm", "-Wno-unknown-cuda-version"),
)
HOST_FLAGS = ("-std=c++17", "-O2", "-fPIC", "-fopenmp")

_NO_ROOM = "No space left on device"
_REINSTALL = "if clang or LLVM's headers were changed by hand, install them again"

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


@dataclass(frozen=True)
class Cross:
    """Another machine that code is compiled for, and the folder of its C and C++ libraries.

    clang of the Python packages knows that machine, but generates no code for it: llc does, out of bitcode.
    """

    machine: str
    sysroot: Path

    @property
    def flags(self) -> tuple[str, ...]:
        return (f"--target={self.machine}-linux-gnu", f"--sysroot={self.sysroot}")


@dataclass(frozen=True)
class Compilers:
    """What adgen's own code is compiled with: clang, LLVM's folder with headers and programs, CUDA and OpenMP."""

    clang: Tool
    llvm: Path
    cuda_root: Path
    libomp: Path
    extra: tuple[str, ...] = ()
    """What clang++ is told beside the flags of each room."""
    cross: Cross | None = None

    def program(self, name: str) -> Path:
        return (self.clang.prefix if name.startswith("clang") else self.llvm) / "bin" / name

    @property
    def cxx(self) -> tuple[str, ...]:
        """clang++ and what it is told of the C++ library."""
        return ("clang++", *packages.compile_flags(self.clang), *self.target, *self.extra)

    @property
    def target(self) -> tuple[str, ...]:
        """What clang is told of the machine, where it is not this one."""
        return self.cross.flags if self.cross else ()

    @property
    def openmp(self) -> tuple[str, ...]:
        folder = packages.openmp_headers(self.libomp)
        return ("-isystem", str(folder)) if folder else ()

    @property
    def words(self) -> tuple[str, ...]:
        """What the result depends on, beside the sources."""
        places = (self.clang.prefix, abi_header(self.llvm).resolve(), self.cuda_root, *self.openmp)
        return (self.clang.version, *self.cxx, *map(str, places))


def own_build(settings: Settings, compilers: Compilers) -> OwnBuild:
    """Where the build of the present sources by these compilers lies, or will lie."""
    return OwnBuild(settings.home / "build" / _digest_of_sources(compilers.words))


def fits(machine: str) -> dict[str, str]:
    """What says that adgen's code in a wheel is the present one, and compiled for this machine and the opt there is."""
    return {"machine": machine, "sources": _digest_of_sources(()), packages.OPT_PACKAGE: packages.version_of_opt()}


def prebuilt(opt: Tool) -> OwnBuild | None:
    """adgen's code that came compiled with the wheel; None where there is none, or it does not fit.

    The passes are part of one opt, that of Python packages. The rest, bitcode and an object file, includes nothing of
    CUDA's: it fits whatever clang and CUDA root are found.
    """
    own = OwnBuild(resources.PACKAGE / "built")
    try:
        known = json.loads((own.folder / "fits.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    here = packages.is_packaged(opt) and own.complete
    return own if here and known == fits(platform.machine()) else None


def build(settings: Settings, compilers: Compilers, run: Runner, progress: Progress) -> OwnBuild:
    """The build of the present sources, made now unless it is there. Safe against a second process doing the same."""
    target = own_build(settings, compilers)
    if target.complete:
        return target
    from filelock import FileLock

    parent = writable(target.folder.parent)
    with written(parent), FileLock(parent / ".lock"):
        if not target.complete:
            _Workshop(compilers, run, progress, parent).make(target)
    return target


def commands(compilers: Compilers) -> dict[str, tuple[str, ...]]:
    """The compiler and its options by room of C++."""
    return {
        "passes": (*compilers.cxx, *PLUGIN_FLAGS, f"-I{compilers.llvm / 'include'}"),
        "host_runtime": (*compilers.cxx, *HOST_FLAGS, *compilers.openmp),
    }


def compile_commands(compilers: Compilers) -> list[dict[str, object]]:
    """What clangd and other tools want to know of each C++ file of those rooms (compile_commands.json)."""
    found: list[dict[str, object]] = []
    for room, (compiler, *options) in commands(compilers).items():
        root = resources.PACKAGE / room
        common = root / COMMON_HEADERS
        words = [compilers.program(compiler), *options, f"-I{root}"]
        words += ["-include", common] if common.is_file() else []
        for source in _sources(room, ".cpp"):
            arguments = [str(word) for word in (*words, "-c", source)]
            found.append({"directory": str(root), "file": str(source), "arguments": arguments})
    return found


def abi_header(llvm: Path) -> Path:
    """The header that says whether LLVM was built with its internal checks; it stands for all of LLVM's headers."""
    return llvm / "include" / "llvm" / "Config" / "abi-breaking.h"


def find_llvm(clang: Tool, opt: Tool) -> Path | Problem:
    """LLVM's folder with the headers for this opt: its own, clang's, or for an opt out of Python packages theirs."""
    packaged = [each.path.parent.parent for each in packages.opts()] if packages.is_packaged(opt) else []
    for folder in (opt.prefix, clang.prefix, *packaged):
        if abi_header(folder).is_file():
            return folder
    reason = f"LLVM's headers were not found ({abi_header(opt.prefix)}); adgen's passes are compiled with them"
    if packages.is_packaged(opt):
        return Problem("LLVM headers", reason, f"{SETUP}, or `pip install {packages.HEADERS}`")
    return Problem("LLVM headers", reason, f"{SETUP}, or on Debian `apt-get install llvm-{LLVM_MAJOR}-dev`")


@dataclass(frozen=True)
class _Workshop:
    """What compiling needs; `parent` holds all builds, and the object files that they share."""

    compilers: Compilers
    run: Runner
    progress: Progress
    parent: Path
    slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(AT_ONCE))

    def make(self, target: OwnBuild) -> None:
        """Build in a scratch folder beside the target, then publish by one rename."""
        with tempfile.TemporaryDirectory(dir=self.parent, prefix=".making-") as scratch_name:
            scratch = OwnBuild(Path(scratch_name) / "out")
            scratch.folder.mkdir()
            with self.progress.step("compiling adgen's LLVM passes, Enzyme worker, device rules and host runtime"):
                self._all(scratch)
            shutil.rmtree(target.folder, ignore_errors=True)
            scratch.folder.rename(target.folder)

    def _all(self, out: OwnBuild) -> None:
        """All four at once: one core reads the passes' common headers while others compile what does not need them."""
        from concurrent.futures import ThreadPoolExecutor

        work = (
            (self._passes, out.passes),
            (self._worker, out.worker),
            (self._rules, out.rules),
            (self._host_runtime, out.host_runtime),
        )
        with ThreadPoolExecutor(len(work)) as pool:
            for done in [pool.submit(make, file) for make, file in work]:
                done.result()

    def _passes(self, out: Path) -> None:
        objects = self._objects("passes", ".cpp", commands(self.compilers)["passes"])
        self._link("-shared", *objects, "-o", out)

    def _worker(self, out: Path) -> None:
        """Enzyme's LLVM has its checks switched on, which changes the layout of classes in its headers."""
        shim = out.parent.parent / "shim"
        copy = shim / "llvm" / "Config" / "abi-breaking.h"
        copy.parent.mkdir(parents=True)
        text = abi_header(self.compilers.llvm).read_text(encoding="utf-8")
        copy.write_text(text.replace(f"{_CHECKS}0", f"{_CHECKS}1"), encoding="utf-8")
        compiler, *flags = commands(self.compilers)["passes"]
        objects = []
        for source in _sources("worker", ".cpp"):
            objects.append(shim / f"{source.stem}.o")
            self._compile((self.compilers.program(compiler), f"-I{shim}", *flags), source, objects[-1])
        self._link("-shared", *objects, "-o", out)

    def _rules(self, out: Path) -> None:
        """The CUDA root decides the PTX version; unnamed, clang would take that of any toolkit that is installed."""
        modules = self._objects("rules", ".cu", ("clang", *RULES_FLAGS, f"--cuda-path={self.compilers.cuda_root}"))
        self._execute([self.compilers.program("llvm-link"), *modules, "-o", out])

    def _host_runtime(self, out: Path) -> None:
        objects = self._objects("host_runtime", ".cpp", commands(self.compilers)["host_runtime"])
        self._link("-r", "-nostdlib", *objects, "-o", out)

    def _link(self, *words: str | Path) -> None:
        compilers = self.compilers
        flags = (*packages.link_flags(compilers.clang), *compilers.target)
        self._execute([compilers.program("clang++"), *flags, *words])

    def _compile(self, words: Sequence[str | Path], source: Path, out: Path) -> None:
        """One file; bitcode where these words or the machine that it is for ask for it."""
        if self.compilers.cross is None or "-emit-llvm" in words:
            self._execute([*words, "-c", source, "-o", out])
            return
        bitcode = out.with_suffix(".bc")
        try:
            self._execute([*words, "-emit-llvm", "-c", source, "-o", bitcode])
            generate = ("-filetype=obj", "-relocation-model=pic")
            self._execute([self.compilers.program("llc"), *generate, bitcode, "-o", out])
        finally:
            bitcode.unlink(missing_ok=True)

    def _objects(self, room: str, suffix: str, command: tuple[str, ...]) -> tuple[Path, ...]:
        """The compiled files of a room; what was compiled before is taken again.

        An object is called by what it is made of: by its files' names in the room and their content, by those of all
        headers of the room that they include, and by the compiler's options.
        """
        from concurrent.futures import ThreadPoolExecutor

        folder = self.parent / "objects"
        folder.mkdir(exist_ok=True)
        root = resources.PACKAGE / room
        about = (self.compilers.clang.version, *command)
        headers = {source: _headers_of(source, root) for source in _sources(room, suffix)}
        header = root / COMMON_HEADERS
        in_groups = header.is_file()
        groups = grouped(tuple(headers), headers.__getitem__) if in_groups else [(source,) for source in headers]
        targets: dict[tuple[Path, ...], Path] = {}
        for group in groups:
            files = (*group, *sorted({header for source in group for header in headers[source]}))
            targets[group] = folder / f"{group[-1].stem}-{_digest(files, about, root)}.o"
        command = (*command, f"-I{root}")
        missing = [group for group, target in targets.items() if not target.is_file()]
        with (
            tempfile.TemporaryDirectory(dir=self.parent, prefix=".headers-") as scratch,
            ThreadPoolExecutor(AT_ONCE) as pool,
        ):
            common = self._common_headers(header, len(missing), command, Path(scratch)) if in_groups else ()

            def compile_one(group: tuple[Path, ...]) -> None:
                fresh = targets[group].with_suffix(".new")
                before = (word for source in group[:-1] for word in ("-include", source))
                try:
                    compiler = self.compilers.program(command[0])
                    self._compile((compiler, *command[1:], *common, *before), group[-1], fresh)
                    fresh.rename(targets[group])
                finally:
                    fresh.unlink(missing_ok=True)

            list(pool.map(compile_one, missing))
        return tuple(targets.values())

    def _common_headers(self, header: Path, files: int, command: tuple[str, ...], scratch: Path) -> tuple[str, ...]:
        """The words by which a compiler takes a room's common headers, on which sources lean: compiled now for many.

        They are not kept: the compiler refuses them where a system's header was replaced meanwhile.
        """
        if files < MANY:
            return ("-include", str(header))
        compiled = scratch / f"{header.name}.pch"
        how = ("-fpch-instantiate-templates", "-x", "c++-header")
        self._execute([self.compilers.program(command[0]), *command[1:], *how, header, "-o", compiled])
        return ("-include-pch", str(compiled))

    def _execute(self, argv: Sequence[str | Path]) -> None:
        with self.slots:
            done = self.run(argv, timeout=COMPILE_TIMEOUT)
        if not done.ok:
            log = keep(self.parent / "failed.log", argv, f"{done.stdout}{done.stderr}")
            raise ToolchainError(
                f"adgen's own code could not be compiled: {_first_error(done.stderr) or 'no message'}",
                hint=ROOM if _NO_ROOM in done.stderr else _REINSTALL,
                log=log,
            )


def _sources(room: str, suffix: str) -> tuple[Path, ...]:
    found = tuple(source for source in resources.own_sources(room) if source.suffix == suffix)
    if not found:
        raise ToolchainError(f"adgen's sources in {room} are missing", hint="install adgen again")
    return found


def _headers_of(source: Path, root: Path) -> tuple[Path, ...]:
    """Every header below `root` that a source includes, also by way of others, sorted by name.

    As the compiler does, each is looked for beside the file that includes it, and then from `root` on.
    """
    found: set[Path] = set()
    waiting = [source]
    while waiting:
        file = waiting.pop()
        for name in _INCLUDED.findall(file.read_text(encoding="utf-8")):
            places = (file.parent / name, root / name)
            header = next((place.resolve() for place in places if place.is_file()), None)
            if header and header not in found and header.is_relative_to(root.resolve()):
                found.add(header)
                waiting.append(header)
    return tuple(sorted(found))


def _digest_of_sources(words: Iterable[str]) -> str:
    flags = (*PLUGIN_FLAGS, *RULES_FLAGS, *HOST_FLAGS)
    sources = (source for room in ROOMS for source in resources.own_sources(room))
    return _digest(sources, (*words, *flags), resources.PACKAGE)


def _digest(files: Iterable[Path], words: Iterable[str], root: Path) -> str:
    """A name for these files, called as they are below `root`, for their content, and for these words."""
    text, behind_links = hashlib.sha256(), f"{root.resolve()}/"
    for file in files:
        content = file.read_bytes()
        name = str(file).removeprefix(f"{root}/").removeprefix(behind_links)
        text.update(f"{name} {len(content)}\n".encode() + content)
    for word in words:
        text.update(f"{word}\n".encode())
    return text.hexdigest()[:16]


def _first_error(stderr: str) -> str:
    return next((line for line in stderr.splitlines() if "error:" in line), stderr.strip().partition("\n")[0])
