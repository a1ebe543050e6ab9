"""clang: the user's file becomes LLVM IR, not optimised, with debug information that tells what the user wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from enzyme_driver.command import Completed
from enzyme_driver.errors import Location, SourceError
from enzyme_driver.model import Language
from enzyme_driver.stages import render
from enzyme_driver.stages.common_headers import CUDA_PRELUDE, compiled_headers
from enzyme_driver.stages.host_code import MISSING, HostCode, Kernel, may_be_empty
from enzyme_driver.stages.source import Source
from enzyme_driver.stages.workspace import Workspace

_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<text>.*)$", re.MULTILINE
)

_SAID = re.compile(r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?P<kind>(?:fatal )?error|note): ", re.MULTILINE)

_ROUNDS = 24
"""How often clang is asked again: what is left out declares what other host code uses."""

_HINT = "make the file compile with clang 22, with the flags of its own build: adgen compile FILE -- -std=c++20"
_HINTS = {
    "initialization is not supported for __shared__ variables": (
        "clang takes no shared variable that has a constructor, such as cuda::barrier: let all threads of the block "
        "wait by __syncthreads(), or make an array of bytes and take it for the type"
    ),
}
"""What to do about what clang says, where more is known."""

PRELUDE = Path(__file__).with_name("prelude.h")
"""Read before every C++ file."""
HEADERS = Path(__file__).with_name("headers")
"""Headers that many CUDA files include and that are seldom installed; those that are there come first."""

INCLUDE = Path(__file__).parents[1] / "include"
"""`adgen.h`, which a file may include."""

_COMMON = (
    *("-O2", "-Xclang", "-disable-llvm-passes", "-w", "-fno-color-diagnostics"),
    *("-g", "-Xclang", "-debug-info-kind=standalone", "-Xclang", "-dwarf-version=4", "-fno-discard-value-names"),
)


@dataclass(frozen=True)
class PrimalIR:
    """The module as clang made it. `dependencies` are all files that were read, absolute.

    `left_out` says how many places in host code clang could not read, `unread` why kernels are not there, by name.
    """

    path: Path
    language: Language
    dependencies: tuple[Path, ...]
    left_out: int = 0
    unread: tuple[tuple[str, SourceError], ...] = ()


def compile_source(
    source: Source, workspace: Workspace, *, arch: str, fast_math: bool = False, instances: tuple[str, ...] = ()
) -> PrimalIR:
    """Compile the file for the GPU `arch` (CUDA) or the host (C++).

    `instances` are names that the file does not emit by itself: instances of templates, static functions.
    Raises SourceError with clang's own message where the file does not compile.
    """
    stem = f"{source.stem}.{arch}" if source.language == "cuda" else source.stem
    output, depfile = workspace.file(f"{stem}.primal.ll"), workspace.file(f"{stem}.d")
    options = (
        *_language_flags(source, workspace, arch),
        *(*_COMMON, *(_fast_math(source) if fast_math else ()), *source.flags),
    )
    run = _Clang(source, workspace, options)

    def clang(text: Path, *flags: str | Path) -> Completed:
        unit = _unit(source, text, workspace, instances)
        return run(*flags, "-S", "-emit-llvm", "-MD", "-MF", depfile, unit, "-o", output)

    done, rest = clang(source.path), _Rest()
    if not done.ok and source.language == "cuda":
        rest = _without_host_code(source, workspace, clang)
    if not done.ok and not rest.left_out:
        raise _rejected(source, done, beside=rest.stopped_by)
    read = _dependencies(depfile.read_text(encoding="utf-8"), source.path)
    own = tuple(path for path in read if not path.is_relative_to(workspace.folder))
    return PrimalIR(output, source.language, own, rest.left_out, rest.unread)


def templates(source: Source) -> dict[str, int]:
    """The templates of kernels in a CUDA file, with their lines; it may make no instance of them."""
    if source.language != "cuda" or not source.path.exists():
        return {}
    return HostCode(source.path.read_text(encoding="latin-1")).templates


class _Clang:
    """clang behind the prelude; of CUDA with the headers that come first compiled already, where that is possible."""

    def __init__(self, source: Source, workspace: Workspace, options: Sequence[str | Path]) -> None:
        cuda = source.language == "cuda"
        self._workspace = workspace
        self._options = options
        self._prelude = CUDA_PRELUDE if cuda else PRELUDE
        self._headers = compiled_headers(workspace, options, source.flags) if cuda else None

    def __call__(self, *words: str | Path) -> Completed:
        if self._headers is None:
            return self._run("-include", self._prelude, *words)
        done = self._run("-Xclang", "-include-pch", "-Xclang", self._headers, *words)
        if done.ok or self._headers.name not in done.stderr:
            return done
        self._headers.unlink(missing_ok=True)  # clang says that a header was changed since
        self._headers = None
        return self(*words)

    def _run(self, *words: str | Path) -> Completed:
        return self._workspace.execute("clang", [self._workspace.toolchain.clang.path, *self._options, *words])


def _unit(source: Source, text: Path, workspace: Workspace, instances: tuple[str, ...]) -> Path:
    """The file itself, or one that includes it and asks for what it does not emit."""
    if not instances:
        return text
    wrapper = workspace.file(f"{source.stem}.instances{source.path.suffix}")
    wrapper.write_text(render.instances(source.language, text, instances), encoding="utf-8")
    return wrapper


@dataclass(frozen=True)
class _Rest:
    """What a copy lacks; nothing where leaving out was not enough."""

    left_out: int = 0
    unread: tuple[tuple[str, SourceError], ...] = ()
    stopped_by: SourceError | None = None


def _without_host_code(source: Source, workspace: Workspace, clang: Callable[..., Completed]) -> _Rest:
    """Compile a copy without what clang does not read of host code, and without kernels that it does not read."""
    if not source.path.exists():
        return _Rest()
    text = HostCode(source.path.read_text(encoding="latin-1"))
    if "__global__" not in text.text:  # what is missing may be all that there is
        return _Rest()
    copy, stubs = workspace.file(f"kernels-of-{source.path.name}"), workspace.file("missing-headers")
    left_out, said = 0, dict[int, SourceError]()
    line = str(source.path).replace("\\", "\\\\")
    for _ in range(_ROUNDS):
        copy.write_text(f'#line 1 "{line}"\n{text.text}', encoding="latin-1")
        done = clang(copy, "-ferror-limit=0", "-iquote", source.path.parent, "-idirafter", stubs)
        if done.ok:
            return _Rest(left_out, tuple((kernel.name, _why(kernel, said, source)) for kernel in text.kernels))
        missing, places = MISSING.search(done.stderr), _places(source, done)
        changed = text if missing else text.without(places) if places else None
        if changed is None or (missing and not _stub(missing["name"], stubs, text, source)):
            return _Rest(stopped_by=_rejected(source, done) if left_out else None)
        for at, _column in sorted(places):
            said.setdefault(at, _rejected(source, done, at))
        left_out += 1 if missing else len(places)
        text = changed
    return _Rest()


def _why(kernel: Kernel, said: Mapping[int, SourceError], source: Source) -> SourceError:
    """What clang said first about the kernel's lines: later it speaks of what stands for them."""
    lines = [line for line in said if line in kernel.lines]
    return said[lines[0]] if lines else SourceError("does not compile", hint=_HINT, location=Location(str(source.path)))


def _undecided(header: str, text: HostCode, source: Source) -> set[str]:
    """What the header could define that decides what is compiled, and the user's flags do not say."""
    said = re.findall(r"-[DU]\s*([A-Za-z_]\w*)", " ".join(source.flags))
    return text.could_learn_from(header).difference(said)


def _stub(name: str, folder: Path, text: HostCode, source: Source) -> bool:
    """An empty header in place of a missing one; not where it could decide what is compiled."""
    path = folder / name
    if not may_be_empty(name) or path.exists() or _undecided(name, text, source):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return True


def _places(source: Source, done: Completed) -> set[tuple[int, int]]:
    """Lines and columns of the file to which errors go back, each by itself or by the note behind it."""
    places, elsewhere = set(), False
    for said in _SAID.finditer(done.stderr):
        here = Path(said["file"]) == source.path
        if here and (said["kind"] != "note" or elsewhere):
            places.add((int(said["line"]), int(said["column"])))
        if said["kind"] != "note" or here:
            elsewhere = not here
    return places


def _language_flags(source: Source, workspace: Workspace, arch: str) -> tuple[str | Path, ...]:
    if source.language == "c++":
        # complex division in line: Enzyme's derivative of the library call __divdc3 is wrong
        return (
            *("-x", "c++", "-fopenmp", "-fPIC", "-ffp-contract=on", "-fcx-fortran-rules"),
            *("-isystem", HEADERS / "libstdcxx", "-idirafter", INCLUDE),
        )
    root = workspace.toolchain.cuda_root
    return (
        *("-x", "cuda", "--cuda-device-only", "-nogpulib", f"--cuda-gpu-arch={arch}", f"--cuda-path={root}"),
        *("-Xclang", "-target-sdk-version=12.8", "-isystem", HEADERS / "cccl", "-isystem", root / "include" / "cccl"),
        *("-idirafter", HEADERS, "-idirafter", INCLUDE),
    )


def _fast_math(source: Source) -> tuple[str, ...]:
    return ("-ffast-math", "-fgpu-approx-transcendentals") if source.language == "cuda" else ("-ffast-math",)


def _rejected(source: Source, done: Completed, line: int = 0, beside: SourceError | None = None) -> SourceError:
    """clang's own message, once, with the place of the first error, or of the one in that line alone.

    `beside` is what clang says of the file without what it rejects here.
    """
    text = done.stderr.strip()
    found = [said for said in _DIAGNOSTIC.finditer(text) if not line or int(said["line"]) == line]
    if not found:
        hint = "check the flags that are given to clang"
        return SourceError(text or "clang failed without a message", hint=hint, location=Location(str(source.path)))
    first = found[0]
    place = Location(first["file"], int(first["line"]), int(first["column"]))
    rest = "" if line else text[first.end() :].rstrip()
    return SourceError(f"error: {first['text']}{rest}", hint=_hint(first["text"], source, beside), location=place)


def _hint(error: str, source: Source, beside: SourceError | None) -> str:
    """What to do about clang's error."""
    missing = MISSING.search(error)
    if not missing:
        return _HINTS.get(error, _HINT)
    hint = "say in which folder it lies: adgen compile FILE -- -I FOLDER"
    if beside:
        return f"{hint}. Without it: {beside.location}: {beside.reason.splitlines()[0]}"
    read = source.language == "cuda" and source.path.exists()
    text = HostCode(source.path.read_text(encoding="latin-1") if read else "")
    asked = sorted(_undecided(missing["name"], text, source))
    if not asked:
        return hint
    return f"{hint}; or whether it defines {', '.join(asked)}, for which the file asks: -- -DNAME or -UNAME"


def _dependencies(text: str, unit: Path) -> tuple[Path, ...]:
    """The files named by a Make rule, but for the unit itself; in names, spaces, # and $ are escaped."""
    names = text.partition(": ")[2].replace("\\\n", " ")
    words = [re.sub(r"\\([ #])|\$(\$)", r"\1\2", word) for word in re.split(r"(?<!\\)\s+", names) if word]
    return tuple(Path(word).absolute() for word in words if Path(word) != unit)
