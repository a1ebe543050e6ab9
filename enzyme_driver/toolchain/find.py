"""Puts the toolchain together, and gives it an identity."""

from __future__ import annotations

import platform
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeVar

from enzyme_driver import command
from enzyme_driver.command import Runner
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import packages
from enzyme_driver.toolchain.build import Compilers, OwnBuild, build, find_llvm, prebuilt
from enzyme_driver.toolchain.cuda import find_cuda_root
from enzyme_driver.toolchain.enzyme import find_enzyme
from enzyme_driver.toolchain.facts import Facts
from enzyme_driver.toolchain.openmp import find_libomp
from enzyme_driver.toolchain.packages import compile_flags, link_flags, openmp_headers
from enzyme_driver.toolchain.progress import OnStderr, Progress
from enzyme_driver.toolchain.search import (
    CLANG,
    OPT,
    PTXAS,
    find_archs,
    find_llvmlite,
    find_tool,
)
from enzyme_driver.toolchain.values import EnzymeSource, Identity, Origin, Problem, Tool, Toolchain, all_problems

Part = TypeVar("Part")


@dataclass(frozen=True)
class Parts:
    """What was found of the outside world. None: not looked for, because what it depends on is missing."""

    clang: Tool | Problem
    opt: Tool | Problem
    ptxas: Tool | Problem
    llvm: Path | Problem | None
    cuda_root: Path | Problem
    llvmlite: Path | Problem
    libomp: Path | Problem | None
    enzyme: EnzymeSource | Problem | None

    @property
    def problems(self) -> tuple[Problem, ...]:
        parts = (getattr(self, item.name) for item in fields(self))
        return tuple(part for part in parts if isinstance(part, Problem))


def look(settings: Settings, facts: Facts, run: Runner) -> Parts:
    """Search for every part; what is missing is a Problem in its place."""
    clang, opt = _llvm(settings, facts, run)
    return Parts(
        clang=clang,
        opt=opt,
        ptxas=find_tool(PTXAS, settings, facts, run),
        llvm=_llvm_folder(clang, opt) if isinstance(clang, Tool) and isinstance(opt, Tool) else None,
        cuda_root=find_cuda_root(settings),
        llvmlite=find_llvmlite(),
        libomp=find_libomp(settings, clang, facts, run) if isinstance(clang, Tool) else None,
        enzyme=find_enzyme(settings, opt) if isinstance(opt, Tool) else None,
    )


ORIGINS: tuple[Origin, ...] = ("system", "pypi")
"""Where clang and opt are looked for, unless ADGEN_TOOLCHAIN says where."""


def _llvm(settings: Settings, facts: Facts, run: Runner) -> tuple[Tool | Problem, Tool | Problem]:
    """clang and opt of the first origin that has both; what is wrong with the first one where none has.

    Beside an opt of Python packages goes the system's clang on machines for which they have none.
    """
    origins = (settings.toolchain,) if settings.toolchain else ORIGINS
    found = []
    for origin in origins:
        of_clang: Origin = "system" if platform.machine() in packages.WITHOUT_CLANG else origin
        wanted = ((CLANG, of_clang), (OPT, origin))
        pair = tuple(find_tool(tool, settings, facts, run, whence) for tool, whence in wanted)
        if all(isinstance(tool, Tool) for tool in pair):
            return pair[0], pair[1]
        found.append(pair)
    return found[0][0], found[0][1]


def _llvm_folder(clang: Tool, opt: Tool) -> Path | Problem:
    """LLVM's folder; its headers are needed only where adgen's code did not come compiled."""
    return opt.prefix if prebuilt(opt) else find_llvm(clang, opt)


def remembered(settings: Settings) -> Facts:
    """What is known of files from earlier runs."""
    return Facts(settings.cache_dir / "facts.json")


def ensure(settings: Settings, *, run: Runner = command.run, progress: Progress | None = None) -> Toolchain:
    """The toolchain; adgen's own code is compiled first where that is not up to date.

    Starts no process when everything was seen before and is unchanged. A ToolchainError names all that is missing.
    """
    facts = remembered(settings)
    try:
        parts = look(settings, facts, run)
        if parts.problems:
            raise all_problems(parts.problems)
        own = prebuilt(_there(parts.opt))
        own = own or build(settings, compilers(parts), run, progress or OnStderr())
        return _assemble(parts, own, facts, run)
    finally:
        facts.save()


def _there(part: Part | Problem | None) -> Part:
    if part is None or isinstance(part, Problem):
        raise all_problems([part] if part else [])
    return part


def compilers(parts: Parts) -> Compilers:
    """What adgen's own code is compiled with; a ToolchainError where a part of it is missing."""
    return Compilers(_there(parts.clang), _there(parts.llvm), _there(parts.cuda_root), _there(parts.libomp))


def _assemble(parts: Parts, own: OwnBuild, facts: Facts, run: Runner) -> Toolchain:
    clang, opt, ptxas = _there(parts.clang), _there(parts.opt), _there(parts.ptxas)
    cuda_root, libomp = _there(parts.cuda_root), _there(parts.libomp)
    return Toolchain(
        clang=clang,
        opt=opt,
        ptxas=ptxas,
        cuda_root=cuda_root,
        libdevice=cuda_root / "nvvm" / "libdevice" / "libdevice.10.bc",
        libomp=libomp,
        llvmlite=_there(parts.llvmlite),
        enzyme=_there(parts.enzyme),
        passes=own.passes,
        worker=own.worker,
        host_runtime=own.host_runtime,
        rules=own.rules,
        archs=find_archs(opt, ptxas, facts, run),
        compile_flags=compile_flags(clang),
        link_flags=link_flags(clang),
        openmp_headers=openmp_headers(libomp),
    )


def identity(toolchain: Toolchain, settings: Settings) -> Identity:
    """What the result of a compilation depends on, besides its input: versions, and digests of files."""
    facts = remembered(settings)
    tools = (toolchain.clang, toolchain.opt, toolchain.ptxas)
    files = {
        **{tool.name: tool.path for tool in tools},
        f"enzyme ({toolchain.enzyme.kind})": toolchain.enzyme.path,
        "libdevice": toolchain.libdevice,
        "libomp": toolchain.libomp,
        "llvmlite": toolchain.llvmlite,
        "passes": toolchain.passes,
        "worker": toolchain.worker,
        "rules": toolchain.rules,
        "host runtime": toolchain.host_runtime,
    }
    versions = tuple((f"{tool.name} version", tool.version) for tool in tools)
    digests = tuple((f"{label} sha256", facts.digest(path)) for label, path in files.items())
    facts.save()
    return versions + digests
