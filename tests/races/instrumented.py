"""Host libraries in which ThreadSanitizer sees every access: compiled as always, instrumented after the optimiser."""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from unittest import mock

from races.subjects import Subject

from enzyme_driver import pipeline as compilation
from enzyme_driver import pipelines, processor, request, resources
from enzyme_driver.command import Completed
from enzyme_driver.pipelines import Pass, Pipeline
from enzyme_driver.settings import Settings
from enzyme_driver.stages.inspection import Inspection
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.toolchain import Tool, Toolchain
from enzyme_driver.toolchain.build import HOST_FLAGS

TEAMS = Path(__file__).with_name("teams.cpp")

_INSTRUMENTED = (Pass("forceattrs"), Pass("tsan-module"), Pass("function", inner=(Pass("tsan"),)))
# Contexts switch stacks, of which ThreadSanitizer's own stack of calls knows nothing.
_NO_CALLS = "-tsan-instrument-func-entry-exit=0"


@dataclass(frozen=True)
class InstrumentedWorkspace(Workspace):
    """Keeps the lines of the user's file for the reports."""

    def opt(
        self,
        pipeline: Pipeline,
        source: Path,
        output: Path | None,
        *flags: str,
        words: Mapping[str, str | Path] | None = None,
        facts: Collection[str] = (),
    ) -> Completed:
        parts = tuple(each for each in pipeline.passes if each.name != "adgen-strip-debug")
        if pipeline in {pipelines.THREADS, pipelines.SWEEPS}:
            parts, flags = (*parts, *_INSTRUMENTED), (*flags, "-force-attribute=sanitize_thread", _NO_CALLS)
        return super().opt(replace(pipeline, parts=parts), source, output, *flags, words=words, facts=facts)

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
        mock.patch.object(compilation, "Workspace", partial(_workspace, tools)),
        mock.patch.object(processor, "baseline", return_value=processor.PLAIN),  # wider vectors are not instrumented
    ):
        compilation.build(wanted, folder, settings=settings)


def _workspace(
    tools: Path, folder: Path, toolchain: Toolchain, settings: Settings, inspection: Inspection | None = None
) -> Workspace:
    teams, host_runtime = tools / "libomp.so.5", tools / "host_runtime.o"
    if not host_runtime.exists():
        _compile(toolchain, teams, host_runtime)
    instrumented = replace(toolchain, libomp=teams, host_runtime=host_runtime)
    return InstrumentedWorkspace(folder, instrumented, settings, inspection=inspection)


def _compile(toolchain: Toolchain, teams: Path, host_runtime: Path) -> None:
    clangxx, linking = toolchain.clang.prefix / "bin" / "clang++", toolchain.link_flags
    _run([clangxx, *linking, "-shared", "-fPIC", "-O1", "-g", f"-Wl,-soname,{teams.name}", TEAMS, "-o", teams])
    headers = ("-isystem", toolchain.openmp_headers) if toolchain.openmp_headers else ()
    flags = (*toolchain.compile_flags, *headers, *HOST_FLAGS, "-g", "-fsanitize=thread", "-mllvm", _NO_CALLS)
    sources = [source for source in resources.own_sources("host_runtime") if source.suffix == ".cpp"]
    objects = []
    for source in sources:
        objects.append(host_runtime.with_name(f"{source.stem}.part.o"))
        _run([clangxx, *flags, "-c", source, "-o", objects[-1]])
    _run([clangxx, *linking, "-r", "-nostdlib", *objects, "-o", host_runtime])


def _run(argv: Sequence[str | Path]) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()
