"""What `adgen doctor` reports: every part, how it was found, whether it fits, and what to do."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from os import pathsep
from pathlib import Path

from enzyme_driver import command, resources
from enzyme_driver.command import Runner
from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain.build import own_build, prebuilt
from enzyme_driver.toolchain.enzyme import PINNED, usual_plugins
from enzyme_driver.toolchain.facts import Facts
from enzyme_driver.toolchain.find import Parts, compilers, look, remembered
from enzyme_driver.toolchain.folders import writable
from enzyme_driver.toolchain.packages import compile_flags, is_packaged
from enzyme_driver.toolchain.search import ASK_TIMEOUT, HEADERS, NO_HEADERS, SETUP
from enzyme_driver.toolchain.values import LLVM_MAJOR, EnzymeSource, Problem, Tool
from enzyme_driver.toolchain.wheels import check_system

PYTHON_PACKAGES = ("click", "filelock", "jinja2", "numpy", "platformdirs", "rich")


@dataclass(frozen=True)
class Finding:
    """A line of the report. Where `ok` is false, `problem` says why and `hint` what to do.

    `required` is false for what only some uses need, such as a GPU.
    """

    part: str
    ok: bool
    found_by: str = ""
    version: str = ""
    path: str = ""
    problem: str = ""
    hint: str = ""
    required: bool = True


def doctor(settings: Settings, *, run: Runner = command.run) -> tuple[Finding, ...]:
    """Look at every part; nothing is installed, nothing is raised for what is missing."""
    facts = remembered(settings)
    parts = look(settings, facts, run)
    findings = (
        *_python(),
        *_tools(settings, parts, facts),
        *_other_plugins(settings),
        *_linking(parts, facts, run, settings),
        *_own_build(settings, parts),
        *_folders(settings),
        _gpu(),
    )
    facts.save()
    return findings


def _python() -> Iterator[Finding]:
    version = ".".join(str(number) for number in sys.version_info[:3])
    yield _system()
    yield Finding("Python", ok=True, found_by="running", version=version, path=sys.executable)
    for name in PYTHON_PACKAGES:
        yield _package(name)
    yield _llvmlite()
    yield _package("cuda-core", required=False)


def _package(name: str, *, required: bool = True) -> Finding:
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        problem, hint = f"the Python package {name} is not installed", f"{SETUP}, or `pip install {name}`"
        return Finding(name, ok=False, problem=problem, hint=hint, required=required)
    return Finding(name, ok=True, found_by="Python's site-packages", version=version, required=required)


def _llvmlite() -> Finding:
    """llvmlite, whose LLVM must have the major of clang and opt: it reads the IR that they write."""
    found = _package("llvmlite")
    if not found.ok:
        return found
    from llvmlite import binding

    numbers: tuple[int, ...] = binding.llvm_version_info
    llvm = ".".join(str(number) for number in numbers)
    version = f"{found.version} (LLVM {llvm})"
    if numbers[0] != LLVM_MAJOR:
        problem = f"llvmlite {found.version} has LLVM {llvm}, but clang and opt are LLVM {LLVM_MAJOR}"
        return Finding("llvmlite", ok=False, version=version, problem=problem, hint=SETUP)
    return Finding("llvmlite", ok=True, found_by=found.found_by, version=version)


def _tools(settings: Settings, parts: Parts, facts: Facts) -> Iterator[Finding]:
    yield _tool("clang", parts.clang)
    yield _tool("opt", parts.opt)
    yield _tool("ptxas", parts.ptxas)
    yield _file("CUDA root", parts.cuda_root, "ADGEN_CUDA_PATH" if settings.cuda_path else "Python's site-packages")
    yield _file("libomp", parts.libomp, "clang")
    if parts.llvm is not None:
        yield _file("LLVM headers", parts.llvm, "opt")
    yield _enzyme(parts.enzyme, facts)


def _bad(problem: Problem) -> Finding:
    return Finding(problem.part, ok=False, problem=problem.reason, hint=problem.hint)


def _tool(part: str, found: Tool | Problem) -> Finding:
    if isinstance(found, Problem):
        return _bad(found)
    return Finding(part, ok=True, found_by=found.found_by, version=found.version, path=str(found.path))


def _file(part: str, found: Path | Problem | None, found_by: str) -> Finding:
    if isinstance(found, Problem):
        return _bad(found)
    if found is None:
        return Finding(part, ok=False, problem="not looked for: clang is missing", hint=SETUP)
    return Finding(part, ok=True, found_by=found_by, path=str(found))


def _enzyme(found: EnzymeSource | Problem | None, facts: Facts) -> Finding:
    if isinstance(found, Problem):
        return _bad(found)
    if found is None:
        return Finding("Enzyme", ok=False, problem="not checked: opt is missing", hint=SETUP)
    if found.kind == "wheel" and facts.digest(found.path) != PINNED.members[0].sha256:
        problem = f"{found.path} was changed: its digest is not the pinned one"
        return Finding(
            "Enzyme", ok=False, problem=problem, hint=f"delete {found.path} and run `adgen toolchain install`"
        )
    fits = f"LLVM {found.llvm_major}, fits " + (f"opt {found.opt.version}" if found.opt else "its own")
    return Finding("Enzyme", ok=True, found_by=found.found_by, version=fits, path=str(found.path))


def _other_plugins(settings: Settings) -> Iterator[Finding]:
    """Plugins that package managers have installed; they are used only where ADGEN_ENZYME names one of them."""
    found = tuple(usual_plugins(settings))
    if found:
        labels = ", ".join(dict.fromkeys(candidate.found_by for candidate in found))
        paths = ", ".join(str(candidate.path) for candidate in found)
        hint = "name one in ADGEN_ENZYME to use it"
        yield Finding("Enzyme plugins", ok=True, found_by=labels, path=paths, hint=hint, required=False)


def _linking(parts: Parts, facts: Facts, run: Runner, settings: Settings) -> Iterator[Finding]:
    """What clang links a host library with: ld of the system, or lld beside it, and GCC's C++ library."""
    linker = shutil.which("ld", path=pathsep.join(str(folder) for folder in settings.search))
    if isinstance(parts.clang, Tool) and is_packaged(parts.clang):
        yield Finding("linker", ok=True, found_by="clang", path=str(parts.clang.prefix / "bin" / "ld.lld"))
    elif linker:
        yield Finding("linker", ok=True, found_by="PATH", path=linker)
    else:
        yield Finding("linker", ok=False, problem="ld is not on PATH", hint="on Debian `apt-get install binutils`")
    if isinstance(parts.clang, Tool):
        yield _cxx_library(parts.clang, facts, run)


def _cxx_library(clang: Tool, facts: Facts, run: Runner) -> Finding:
    ask = (clang.path, "-print-file-name=libstdc++.so")
    told = Path(facts.about(clang.path, "libstdc++", lambda: run(ask, timeout=ASK_TIMEOUT).stdout).strip())
    if not (told.is_absolute() and told.exists()):
        return Finding("C++ library", ok=False, problem=f"{clang.path} finds no libstdc++", hint=HEADERS)
    prelude = resources.PACKAGE / "stages" / "prelude.h"
    read: list[str | Path] = [clang.path, *compile_flags(clang), "-fsyntax-only", "-x", "c++", prelude]
    if not run(read, timeout=ASK_TIMEOUT).ok:
        return Finding("C++ library", ok=False, problem=NO_HEADERS, hint=HEADERS)
    return Finding("C++ library", ok=True, found_by="clang", path=str(told.resolve()))


def _system() -> Finding:
    """The machine and its C library; the pinned wheels fit no others."""
    library, version = platform.libc_ver()
    found = f"{sys.platform} {platform.machine()}, {f'{library} {version}' if library else 'no glibc'}"
    try:
        check_system(PINNED)
    except ToolchainError as problem:
        return Finding("system", ok=False, version=found, problem=problem.reason, hint=problem.hint, required=False)
    return Finding("system", ok=True, version=found)


def _own_build(settings: Settings, parts: Parts) -> Iterator[Finding]:
    if parts.problems or not isinstance(parts.clang, Tool) or not isinstance(parts.opt, Tool):
        return
    own = prebuilt(parts.opt)
    if own:
        yield Finding("adgen's passes", ok=True, found_by="compiled in the wheel", path=str(own.folder))
    else:
        own = own_build(settings, compilers(parts))
        state = "up to date" if own.complete else "will be compiled when it is first needed"
        yield Finding("adgen's passes", ok=True, found_by=state, path=str(own.folder))


def _folders(settings: Settings) -> Iterator[Finding]:
    for variable, folder in (("ADGEN_HOME", settings.home), ("ADGEN_CACHE_DIR", settings.cache_dir)):
        try:
            writable(folder)
        except ToolchainError as problem:
            hint = f"set {variable} to a folder that can be written"
            yield Finding(variable, ok=False, path=str(folder), problem=problem.reason, hint=hint)
        else:
            yield Finding(variable, ok=True, path=str(folder))


def _gpu() -> Finding:
    """The NVIDIA GPUs that the CUDA target could run on; without one it can still be compiled."""
    part, without = "GPU", "the CUDA target compiles, but runs only where an NVIDIA GPU and its driver are"
    if importlib.util.find_spec("cuda") is None:
        return Finding(part, ok=False, problem="cuda-core is not installed", hint=without, required=False)
    try:
        from cuda.core import Device

        devices = Device.get_all_devices()
    except Exception as problem:  # noqa: BLE001  (the bindings raise many kinds, also from the dynamic loader)
        said = re.split(r"[\n.]", str(problem))[0] or type(problem).__name__
        return Finding(part, ok=False, problem=f"no usable GPU: {said}", hint=without, required=False)
    if not devices:
        return Finding(part, ok=False, problem="no GPU is visible", hint=without, required=False)
    names = ", ".join(f"{device.name} (sm_{device.arch})" for device in devices)
    return Finding(part, ok=True, found_by="cuda-core", version=names, required=False)
