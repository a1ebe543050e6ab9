"""clang: the user's file becomes LLVM IR, not optimised, with debug information that tells what the user wrote."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from enzyme_driver.command import Completed
from enzyme_driver.errors import Location, SourceError
from enzyme_driver.model import Language
from enzyme_driver.stages import render
from enzyme_driver.stages.source import Source
from enzyme_driver.stages.workspace import Workspace

_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<text>.*)$", re.MULTILINE
)

PRELUDE = Path(__file__).with_name("prelude.h")
"""Read before every C++ file."""
CUDA_PRELUDE = Path(__file__).with_name("prelude.cuh")
"""Read before every CUDA file."""
HEADERS = Path(__file__).with_name("headers")
"""Headers that many CUDA files include and that are seldom installed; those that are there come first."""

INCLUDE = Path(__file__).parents[1] / "include"
"""`adgen.h`, which a file may include."""

_COMMON = (
    *("-S", "-emit-llvm", "-O2", "-Xclang", "-disable-llvm-passes", "-w", "-fno-color-diagnostics"),
    *("-g", "-Xclang", "-debug-info-kind=standalone", "-Xclang", "-dwarf-version=4", "-fno-discard-value-names"),
)


@dataclass(frozen=True)
class PrimalIR:
    """The module as clang made it. `dependencies` are all files that were read, absolute."""

    path: Path
    language: Language
    dependencies: tuple[Path, ...]


def compile_source(
    source: Source, workspace: Workspace, *, arch: str, fast_math: bool = False, instances: tuple[str, ...] = ()
) -> PrimalIR:
    """Compile the file for the GPU `arch` (CUDA) or the host (C++).

    `instances` are names that the file does not emit by itself: instances of templates, static functions.
    Raises SourceError with clang's own message where the file does not compile.
    """
    stem = f"{source.stem}.{arch}" if source.language == "cuda" else source.stem
    output, depfile = workspace.file(f"{stem}.primal.ll"), workspace.file(f"{stem}.d")
    unit = _unit(source, workspace, instances)
    argv = [
        *(workspace.toolchain.clang.path, *_language_flags(source, workspace, arch)),
        *(*_COMMON, *(_fast_math(source) if fast_math else ()), *source.flags),
        *("-MD", "-MF", depfile, unit, "-o", output),
    ]
    done = workspace.execute("clang", argv)
    if not done.ok:
        raise _rejected(source, done)
    read = _dependencies(depfile.read_text(encoding="utf-8"), unit)
    return PrimalIR(output, source.language, read)


def _unit(source: Source, workspace: Workspace, instances: tuple[str, ...]) -> Path:
    """The file itself, or one that includes it and asks for what it does not emit."""
    if not instances:
        return source.path
    wrapper = workspace.file(f"{source.stem}.instances{source.path.suffix}")
    wrapper.write_text(render.instances(source, instances), encoding="utf-8")
    return wrapper


def _language_flags(source: Source, workspace: Workspace, arch: str) -> tuple[str | Path, ...]:
    if source.language == "c++":
        # complex division in line: Enzyme's derivative of the library call __divdc3 is wrong
        return (
            "-x",
            "c++",
            "-fopenmp",
            "-fPIC",
            "-ffp-contract=on",
            "-fcx-fortran-rules",
            "-include",
            PRELUDE,
            "-idirafter",
            INCLUDE,
        )
    root = workspace.toolchain.cuda_root
    return (
        *("-x", "cuda", "--cuda-device-only", "-nogpulib", f"--cuda-gpu-arch={arch}", f"--cuda-path={root}"),
        *("-Xclang", "-target-sdk-version=12.8", "-isystem", root / "include" / "cccl"),
        *("-include", CUDA_PRELUDE, "-idirafter", HEADERS, "-idirafter", INCLUDE),
    )


def _fast_math(source: Source) -> tuple[str, ...]:
    return ("-ffast-math", "-fgpu-approx-transcendentals") if source.language == "cuda" else ("-ffast-math",)


def _rejected(source: Source, done: Completed) -> SourceError:
    """clang's own message, once, with the place of the first error."""
    text = done.stderr.strip()
    first = _DIAGNOSTIC.search(text)
    if first is None:
        hint = "check the flags that are given to clang"
        return SourceError(text or "clang failed without a message", hint=hint, location=Location(str(source.path)))
    place = Location(first["file"], int(first["line"]), int(first["column"]))
    rest = text[first.end() :].rstrip()
    return SourceError(f"error: {first['text']}{rest}", hint="make the file compile with clang 22", location=place)


def _dependencies(text: str, unit: Path) -> tuple[Path, ...]:
    """The files named by a Make rule, but for the unit itself; in names, spaces, # and $ are escaped."""
    names = text.partition(": ")[2].replace("\\\n", " ")
    words = [re.sub(r"\\([ #])|\$(\$)", r"\1\2", word) for word in re.split(r"(?<!\\)\s+", names) if word]
    return tuple(Path(word).absolute() for word in words if Path(word) != unit)
