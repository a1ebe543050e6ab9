"""What clang says of a file, as values, and as the error that the user reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from enzyme_driver import resources
from enzyme_driver.command import Completed
from enzyme_driver.errors import Location, SourceError, ToolchainError
from enzyme_driver.stages.host_code import MISSING, HostCode
from enzyme_driver.stages.source import Source
from enzyme_driver.toolchain.search import HEADERS, NO_HEADERS

_SAID = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?P<kind>(?:fatal )?error|note): (?P<text>.*)$", re.MULTILINE
)

_UNDECLARED = re.compile(r"use of undeclared identifier '(\w+)'|unknown type name '(\w+)'")
_OF_BUILD = re.compile(r"[A-Z][A-Z0-9_]+")
"""Macros are written so."""
_NAMED = 3
"""How many headers a message names."""

HINT = "make the file compile with clang 22, with the flags of its own build: adgen compile FILE -- -std=c++20"
_OF_THE_SYSTEM = re.compile(r"/lib/clang/\d+/include/|/c\+\+/\d+/")
"""In the path of a header that is clang's or libstdc++'s."""

NEEDS_17 = "requires at least C++17"
"""Part of what Thrust, CUB and adgen's headers for PyTorch say of an older standard."""

_HINTS = {
    NEEDS_17: (
        "the C++ libraries of CUDA 13 (Thrust, CUB) need C++17 or later: adgen compile FILE --std c++17, in place "
        "of an older standard"
    ),
    "initialization is not supported for __shared__ variables": (
        "clang takes no shared variable that has a constructor, such as cuda::barrier: let all threads of the block "
        "wait by __syncthreads(), or make an array of bytes and take it for the type"
    ),
    "no member named 'this_cluster'": (
        "clang knows no clusters of blocks nor shared memory of other blocks: write the kernel for single blocks, "
        "which hand each other values through an array in another launch"
    ),
    "kernel launch from __device__ or __global__ function": (
        "a kernel that launches kernels has no derivative: let the host launch them, and record the launches by "
        "adgen.Tape"
    ),
    "no mipmaps, no cubemaps, no gathers": (
        "give the kernel a texture for each level or face, of which each is an array for adgen.texture(...), and read "
        "it by tex2D; for a gather read the four texels"
    ),
}
"""What to do about what clang says, or what is part of that, where more is known."""


@dataclass(frozen=True)
class Diagnostic:
    """An error, with the notes that clang adds to it."""

    file: Path
    line: int
    column: int
    text: str
    notes: tuple[Diagnostic, ...] = field(default=())

    @property
    def location(self) -> Location:
        return Location(str(self.file), self.line, self.column)


def errors(stderr: str) -> list[Diagnostic]:
    """The errors that clang has written, in order."""
    found: list[Diagnostic] = []
    for said in _SAID.finditer(stderr):
        each = Diagnostic(Path(said["file"]), int(said["line"]), int(said["column"]), said["text"])
        if said["kind"] != "note":
            found.append(each)
        elif found:
            found[-1] = replace(found[-1], notes=(*found[-1].notes, each))
    return found


def rejected(source: Source, done: Completed, beside: SourceError | None = None) -> SourceError:
    """clang's own message, once, with the place of the first error, or from the header on that is missing.

    `beside` is what clang says of the file without what it rejects here. Raises ToolchainError where headers of the
    system are missing, not the user's.
    """
    text = done.stderr.strip()
    said = [each for each in _SAID.finditer(text) if each["kind"] != "note"]
    found = next((each for each in said if MISSING.search(each["text"])), said[0] if said else None)
    if found is None:
        hint = "check the flags that are given to clang"
        return SourceError(text or "clang failed without a message", hint=hint, location=Location(str(source.path)))
    place = Location(found["file"], int(found["line"]), int(found["column"]))
    if MISSING.search(found["text"]) and _is_of_the_system(Path(found["file"])):
        raise ToolchainError(f"{found['text']}: {NO_HEADERS}", hint=HEADERS, location=place)
    reason = f"error: {found['text']}{text[found.end() :].rstrip()}"
    return SourceError(reason, hint=_hint(found["text"], source, beside, Path(found["file"])), location=place)


def as_error(said: Diagnostic, source: Source, absent: Sequence[str] = ()) -> SourceError:
    """One of several errors by itself; at the place in the user's files that asks for what is ours.

    `absent` are the headers that were empty when clang said so, since nobody has them.
    """
    asked = (each for each in (said, *said.notes) if not each.file.is_relative_to(resources.PACKAGE))
    place = next(asked, said).location
    return SourceError(f"error: {said.text}", hint=_hint(said.text, source, None, absent=absent), location=place)


def undecided(header: str, text: HostCode, source: Source) -> set[str]:
    """What the header could define that decides what is compiled, and the user's flags do not say."""
    given = re.findall(r"-[DU]\s*([A-Za-z_]\w*)", " ".join(source.flags))
    return text.could_learn_from(header).difference(given)


def _is_of_the_system(file: Path) -> bool:
    return file.is_relative_to(resources.PACKAGE) or _OF_THE_SYSTEM.search(str(file)) is not None


def _hint(
    error: str, source: Source, beside: SourceError | None, file: Path | None = None, absent: Sequence[str] = ()
) -> str:
    """What to do about clang's error in the file, by default the user's own."""
    missing = MISSING.search(error)
    if not missing:
        known = next((hint for part, hint in _HINTS.items() if part in error), "")
        return known or next(_about_undeclared(error, _text(source), absent), HINT)
    hint = "say in which folder it lies: adgen compile FILE -I FOLDER"
    if beside:
        return f"{hint}. Without it: {beside.location}: {beside.reason.splitlines()[0]}"
    text = file.read_text(encoding="latin-1") if file and file.is_file() else _text(source)
    asked = sorted(undecided(missing["name"], HostCode(text), source))
    if not asked:
        return hint
    return f"{hint}; or whether it defines {', '.join(asked)}, for which the file asks: -D NAME, or -- -UNAME"


def in_headers(absent: Sequence[str]) -> str:
    """What to do about what a header may have that nobody has."""
    more = f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else ""
    return f"it may be in a header that is not found ({', '.join(absent[:_NAMED])}{more}): adgen compile FILE -I FOLDER"


def _text(source: Source) -> str:
    read = source.language == "cuda" and source.path.exists()
    return source.path.read_text(encoding="latin-1") if read else ""


def _about_undeclared(error: str, text: str, absent: Sequence[str]) -> Iterator[str]:
    """Where a name is known to nobody: a texture reference, what a header has, or a macro that only a build gives."""
    said = _UNDECLARED.search(error)
    name = said[1] or said[2] if said else ""
    if name and re.search(rf"\b(texture|surface)\s*<[^;]*>\s*{name}\b", text):
        yield (
            f"{name} is a texture reference, which CUDA 12 has taken out: give the kernel a cudaTextureObject_t, for "
            "which callers pass adgen.texture(...)"
        )
    elif absent:
        yield in_headers(sorted(absent, key=lambda header: name not in header) if name else absent)
    elif _OF_BUILD.fullmatch(name):
        yield f"where the file's own build defines {name}, say so: adgen compile FILE -D {name}=VALUE"
