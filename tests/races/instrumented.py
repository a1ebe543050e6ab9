"""Host libraries in which ThreadSanitizer sees every access: compiled as always, instrumented after the optimiser."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from unittest import mock

from races.subjects import Subject

from enzyme_driver import pipeline, processor, request, resources
from enzyme_driver.command import Completed
from enzyme_driver.settings import Settings
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.toolchain import Tool, Toolchain
from enzyme_driver.toolchain.build import HOST_FLAGS

TEAMS = Path(__file__).with_name("teams.cpp")

_OPTIMISED = "default<O3>"
_INSTRUMENTED = f"{_OPTIMISED},forceattrs,tsan-module,function(tsan)"
# Contexts switch stacks, of which ThreadSanitizer's own stack of calls knows nothing.
_NO_CALLS = "-tsan-instrument-func-entry-exit=0"


@dataclass(frozen=True)
class InstrumentedWorkspace(Workspace):
    """Keeps the lines of the user's file for the reports."""

    def opt(self, name: str, passes: str, source: Path, output: Path | None, *flags: str) -> Completed:
        if name == "host entries":
            return super().opt(name, passes.replace(",adgen-strip-debug", ""), source, output, *flags)
        if name != "host code":
            return super().opt(name, passes, source, output, *flags)
        instrumented = passes.replace(_OPTIMISED, _INSTRUMENTED)
        return super().opt(name, instrumented, source, output, *flags, "-force-attribute=sanitize_thread", _NO_CALLS)

    def must(self, name: str, argv: Sequence[str | Path], **settings: object) -> Completed:
        linked = (*argv, runtime_library(self.toolchain.clang)) if name == "link" else argv
        return super().must(name, linked, **settings)  # type: ignore[arg-type]


@cache
def runtime_library(clang: Tool) -> Path:
    """ThreadSanitizer's run time of the GCC whose headers clang uses."""
    answer = _run([clang.path, "-print-file-name=libtsan.so"])
    return Path(answer).resolve(strict=True)


def build(subject: Subject, folder: Path, settings: Settings, tools: Path) -> None:
    """The artifact of one entry, in which all threads are ThreadSanitizer's. `tools` is kept from build to build."""
    wanted = request.new(subject.path, names=[subject.entry], activity=subject.activity)
    with (
        mock.patch.object(pipeline, "Workspace", partial(_workspace, tools)),
        mock.patch.object(processor, "baseline", return_value=processor.PLAIN),  # wider vectors are not instrumented
    ):
        pipeline.build(wanted, folder, settings=settings)


def _workspace(tools: Path, folder: Path, toolchain: Toolchain, settings: Settings) -> Workspace:
    teams, host_runtime = tools / "libomp.so.5", tools / "host_runtime.o"
    if not host_runtime.exists():
        _compile(toolchain.clang, teams, host_runtime)
    return InstrumentedWorkspace(folder, replace(toolchain, libomp=teams, host_runtime=host_runtime), settings)


def _compile(clang: Tool, teams: Path, host_runtime: Path) -> None:
    clangxx = clang.prefix / "bin" / "clang++"
    _run([clangxx, "-shared", "-fPIC", "-O1", "-g", f"-Wl,-soname,{teams.name}", TEAMS, "-o", teams])
    flags = (*HOST_FLAGS, "-g", "-fsanitize=thread", "-mllvm", _NO_CALLS)
    sources = [source for source in resources.own_sources("host_runtime") if source.suffix == ".cpp"]
    objects = []
    for source in sources:
        objects.append(host_runtime.with_name(f"{source.stem}.part.o"))
        _run([clangxx, *flags, "-c", source, "-o", objects[-1]])
    _run([clangxx, "-r", "-nostdlib", *objects, "-o", host_runtime])


def _run(argv: Sequence[str | Path]) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()
