"""Puts the toolchain together, and gives it an identity."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeVar

from enzyme_driver import command
from enzyme_driver.command import Runner
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain.build import OwnBuild, build
from enzyme_driver.toolchain.enzyme import find_enzyme
from enzyme_driver.toolchain.facts import Facts
from enzyme_driver.toolchain.progress import OnStderr, Progress
from enzyme_driver.toolchain.search import (
    CLANG,
    OPT,
    PTXAS,
    find_archs,
    find_cuda_root,
    find_libomp,
    find_llvmlite,
    find_tool,
)
from enzyme_driver.toolchain.values import EnzymeSource, Identity, Problem, Tool, Toolchain, all_problems

Part = TypeVar("Part")


@dataclass(frozen=True)
class Parts:
    """What was found of the outside world. None: not looked for, because what it depends on is missing."""

    clang: Tool | Problem
    opt: Tool | Problem
    ptxas: Tool | Problem
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
    clang = find_tool(CLANG, settings, facts, run)
    opt = find_tool(OPT, settings, facts, run)
    return Parts(
        clang=clang,
        opt=opt,
        ptxas=find_tool(PTXAS, settings, facts, run),
        cuda_root=find_cuda_root(settings),
        llvmlite=find_llvmlite(),
        libomp=find_libomp(clang, facts, run) if isinstance(clang, Tool) else None,
        enzyme=find_enzyme(settings, opt) if isinstance(opt, Tool) else None,
    )


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
        own = build(settings, _there(parts.clang), _there(parts.cuda_root), run, progress or OnStderr())
        return _assemble(parts, own, facts, run)
    finally:
        facts.save()


def _there(part: Part | Problem | None) -> Part:
    if part is None or isinstance(part, Problem):
        raise all_problems([part] if part else [])
    return part


def _assemble(parts: Parts, own: OwnBuild, facts: Facts, run: Runner) -> Toolchain:
    clang, ptxas, cuda_root = _there(parts.clang), _there(parts.ptxas), _there(parts.cuda_root)
    return Toolchain(
        clang=clang,
        opt=_there(parts.opt),
        ptxas=ptxas,
        cuda_root=cuda_root,
        libdevice=cuda_root / "nvvm" / "libdevice" / "libdevice.10.bc",
        libomp=_there(parts.libomp),
        llvmlite=_there(parts.llvmlite),
        enzyme=_there(parts.enzyme),
        passes=own.passes,
        worker=own.worker,
        host_runtime=own.host_runtime,
        rules=own.rules,
        archs=find_archs(clang, ptxas, facts, run),
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
