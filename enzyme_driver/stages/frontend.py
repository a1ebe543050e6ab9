"""clang: the user's file becomes LLVM IR, not optimised, with debug information that tells what the user wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from enzyme_driver.command import Completed
from enzyme_driver.errors import Location
from enzyme_driver.model import Language
from enzyme_driver.stages import reading, render
from enzyme_driver.stages.common_headers import CUDA_PRELUDE, compiled_headers
from enzyme_driver.stages.diagnostics import NEEDS_17, as_error, rejected
from enzyme_driver.stages.host_code import MISSING, HostCode
from enzyme_driver.stages.included import given_folders, seems_incomplete
from enzyme_driver.stages.macros import split
from enzyme_driver.stages.reading import Parsed, Reason, generate, made
from enzyme_driver.stages.source import Source
from enzyme_driver.stages.workspace import Workspace

PRELUDE = Path(__file__).with_name("prelude.h")
"""Read before every file in C++ or C."""
HEADERS = Path(__file__).with_name("headers")
"""Headers that many CUDA files include and that are seldom installed; those that are there come first."""

INCLUDE = Path(__file__).parents[1] / "include"
"""`adgen.h`, which a file may include."""

_OLDER = re.compile(r"^(--?std=(?:c|gnu)\+\+)(?:98|03|0x|11|1y|14)$")
"""Standards that Thrust and CUB do not take."""

_COMMON = (
    *("-O2", "-Xclang", "-disable-llvm-passes", "-fno-color-diagnostics"),
    # What clang takes for errors, and others for warnings.
    *("-w", "-Wno-register", "-Wno-c++11-narrowing", "-Wno-reserved-user-defined-literal"),
    *("-g", "-Xclang", "-debug-info-kind=standalone", "-Xclang", "-dwarf-version=4", "-fno-discard-value-names"),
)


@dataclass(frozen=True)
class PrimalIR:
    """The module as clang made it. `dependencies` are all files that were read, absolute.

    `left_out` says how many places in host code clang could not read, `unread` why functions of the device are not
    there. `parsed` is what was read, where that was not all of the file. `source` is the file with the flags that it
    was read with: Thrust and CUB raise an older standard.
    """

    path: Path
    language: Language
    dependencies: tuple[Path, ...]
    left_out: int = 0
    unread: tuple[Reason, ...] = ()
    parsed: Parsed | None = None
    source: Source | None = None


def compile_source(
    source: Source,
    workspace: Workspace,
    *,
    arch: str,
    fast_math: bool = False,
    instances: tuple[str, ...] = (),
    parsed: Parsed | None = None,
) -> PrimalIR:
    """Compile the file for the GPU `arch` (CUDA) or the host (C++).

    `instances` are names that the file does not emit by itself: instances of templates, static functions. `parsed` is
    what was read of the file before. Raises SourceError with clang's own message where the file does not compile.
    """
    stem = f"{source.stem}.{arch}" if source.language == "cuda" else source.stem
    output, depfile = workspace.file(f"{stem}.primal.ll"), workspace.file(f"{stem}.d")
    options = (*_language_flags(source, workspace, arch), *_COMMON, *(_fast_math(source) if fast_math else ()))
    clang = _Clang(source, workspace, options)
    if parsed is None:
        unit = _unit(source, workspace, instances)
        done = _without_header(source, workspace, clang) or clang(
            "-S", "-emit-llvm", "-MD", "-MF", depfile, unit, "-o", output
        )
        newer = _of_newer_standard(source) if NEEDS_17 in done.stderr else None
        if newer:
            return compile_source(newer, workspace, arch=arch, fast_math=fast_math, instances=instances)
        readable = source.language == "cuda" and source.path.exists()
        if not done.ok and not readable:
            raise rejected(source, done)
        if not done.ok or (readable and reading.is_for_nvcc(source, depfile, workspace)):
            parsed = reading.read(source, workspace, clang, depfile, output, done)
    if parsed is not None and instances:
        _add_instances(parsed, source, workspace, clang, instances, output)
    read = reading.dependencies(depfile, source.path)
    own = tuple(path for path in read if not path.is_relative_to(workspace.folder))
    left_out, unread = (parsed.left_out, parsed.unread) if parsed else (0, ())
    return PrimalIR(output, source.language, own, left_out, unread, parsed, source)


def _without_header(source: Source, workspace: Workspace, clang: _Clang) -> Completed | None:
    """What the preprocessor says of a header that is not there; None where all seem to be, or it finds them."""
    readable = source.language == "cuda" and source.path.exists() and _of_newer_standard(source) is None
    if not readable or not seems_incomplete(source.path, source.flags, _folders(workspace)):
        return None
    done = clang("-M", source.path, "-o", workspace.file(f"{source.stem}.headers.d"))
    return done if not done.ok and MISSING.search(done.stderr) else None


def _folders(workspace: Workspace) -> tuple[Path, ...]:
    """Where headers of CUDA and clang's own are, and those that stand for others."""
    tools = workspace.toolchain
    cuda = tools.cuda_root / "include"
    others = [tools.openmp_headers] if tools.openmp_headers else []
    own = tools.clang.prefix.glob("lib/clang/*/include")
    return (HEADERS / "cccl", cuda / "cccl", cuda, HEADERS, INCLUDE, *others, *own)


def _of_newer_standard(source: Source) -> Source | None:
    """The source in C++17, where the flags say an older standard: builds say it for compilers of their day."""
    flags = tuple(_OLDER.sub(r"\g<1>17", flag) for flag in source.flags)
    return replace(source, flags=flags) if flags != source.flags else None


def templates(source: Source, headers: Iterable[Path] = ()) -> dict[str, int]:
    """The templates of kernels in a CUDA file, with their lines, then those of headers; it may make no instance."""
    if source.language != "cuda":
        return {}
    found: dict[str, int] = {}
    for path in (path for path in (*headers, source.path) if path.exists()):
        found = {**HostCode(path.read_text(encoding="latin-1")).templates, **found}
    return found


def templates_read(source: Source, primal: PrimalIR, workspace: Workspace) -> dict[str, int]:
    """Those of the file and of the user's headers that it includes."""
    return templates(source, (path for path in primal.dependencies if reading.is_users(path, workspace)))


def is_in_device_code(source: Source, place: Location | None) -> bool:
    """Whether the place is in a function of the file that its head makes code of the device."""
    if place is None or place.file != str(source.path) or not source.path.exists():
        return False
    body = HostCode(source.path.read_text(encoding="latin-1")).body(place.line, max(place.column, 1))
    return body is not None and body.device


def _before_the_users(source: Source, workspace: Workspace) -> tuple[str | Path, ...]:
    """What makes clang's own headers find CUDA's `cuda.h` where a folder on the include path has one of its own, as
    darknet's has. What lies beside the file that includes it comes first still.
    """
    hidden = any((folder / "cuda.h").is_file() for folder in given_folders(source.flags))
    return ("-iquote", workspace.toolchain.cuda_root / "include") if hidden else ()


class _Clang:
    """clang behind the prelude; of CUDA with the headers that come first compiled already, where that is possible."""

    def __init__(self, source: Source, workspace: Workspace, options: Sequence[str | Path]) -> None:
        cuda = source.language == "cuda"
        flags, macros = split(source.flags) if cuda else (source.flags, "")
        self._workspace = workspace
        self._options = (*options, *flags, *(_before_the_users(source, workspace) if cuda else ()))
        self._prelude = CUDA_PRELUDE if cuda else PRELUDE
        self._headers = compiled_headers(workspace, self._options, flags) if cuda else None
        self._macros: tuple[str | Path, ...] = ()
        if macros:
            defining = workspace.file(f"{source.stem}.macros.h")
            if not (defining.exists() and defining.read_text(encoding="utf-8") == macros):  # PCHs ask for its time
                defining.write_text(macros, encoding="utf-8")
            self._macros = ("-include", defining)

    def __call__(self, *words: str | Path, behind: Path | None = None) -> Completed:
        if behind is not None:
            return self._run("-Xclang", "-include-pch", "-Xclang", behind, *words)
        if self._headers is None:
            return self._run("-include", self._prelude, *self._macros, *words)
        done = self._run("-Xclang", "-include-pch", "-Xclang", self._headers, *self._macros, *words)
        if done.ok or self._headers.name not in done.stderr:
            return done
        self._headers.unlink(missing_ok=True)  # clang says that a header was changed since
        self._headers = None
        return self(*words)

    def _run(self, *words: str | Path) -> Completed:
        return self._workspace.execute("clang", [self._workspace.toolchain.clang.path, *self._options, *words])


def _unit(source: Source, workspace: Workspace, instances: tuple[str, ...], *, alone: bool = False) -> Path:
    """The file itself, or one that includes it and asks for what it does not emit; `alone`, it only asks."""
    if not instances and not alone:
        return source.path
    wrapper = workspace.file(f"{source.stem}.instances{source.path.suffix}")
    included = None if alone else source.path
    text = render.instances(source.language, included, instances, c=source.is_c)
    wrapper.write_text(text, encoding="utf-8")
    return wrapper


def _add_instances(
    parsed: Parsed, source: Source, workspace: Workspace, clang: _Clang, instances: tuple[str, ...], output: Path
) -> None:
    """Make code of what was read once more, with these instances."""
    done = generate(clang, parsed, _unit(source, workspace, instances, alone=True), output)
    if not done.ok:
        raise rejected(source, done)
    for said in made(parsed, output, workspace).wrong:
        raise as_error(said, source)


def _language_flags(source: Source, workspace: Workspace, arch: str) -> tuple[str | Path, ...]:
    tools = workspace.toolchain
    if source.language == "c++":
        # complex division in line: Enzyme's derivative of the library call __divdc3 is wrong
        return (
            *("-x", "c" if source.is_c else "c++"),
            *("-fopenmp", "-fPIC", "-ffp-contract=on", "-fcx-fortran-rules", *tools.compile_flags),
            *("-isystem", HEADERS / ("libc" if source.is_c else "libstdcxx"), "-idirafter", INCLUDE),
            *(("-isystem", tools.openmp_headers) if tools.openmp_headers else ()),
        )
    root = tools.cuda_root
    return (
        *("-x", "cuda", "--cuda-device-only", "-nogpulib", f"--cuda-gpu-arch={arch}", f"--cuda-path={root}"),
        *tools.compile_flags,
        *("-Xclang", "-target-sdk-version=12.8", "-isystem", HEADERS / "cccl", "-isystem", root / "include" / "cccl"),
        *("-idirafter", HEADERS, "-idirafter", INCLUDE),
        *(("-idirafter", tools.openmp_headers) if tools.openmp_headers else ()),
    )


def _fast_math(source: Source) -> tuple[str, ...]:
    return ("-ffast-math", "-fgpu-approx-transcendentals") if source.language == "cuda" else ("-ffast-math",)
