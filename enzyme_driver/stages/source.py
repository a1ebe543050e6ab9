"""The first room: the user's file, read once and never touched."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from enzyme_driver.errors import Location, SourceError, UsageError
from enzyme_driver.model import Language
from enzyme_driver.request import Request

_HEADERS = {".h", ".hh", ".hpp", ".hxx", ".inl"}
LANGUAGES: dict[str, Language] = {
    ".cu": "cuda",
    ".cuh": "cuda",
    ".cpp": "c++",
    ".cc": "c++",
    ".cxx": "c++",
    ".cp": "c++",
    ".c++": "c++",
    ".C": "c++",
    ".CPP": "c++",
    ".c": "c++",
}
"""C goes the way of C++, but for clang's front end, see `Source.is_c`."""


@dataclass(frozen=True)
class Source:
    """A readable text file in a known language; `digest` is the SHA-256 of its bytes, in hex."""

    path: Path
    language: Language
    flags: tuple[str, ...]
    digest: str

    @property
    def stem(self) -> str:
        return self.path.stem

    @property
    def is_c(self) -> bool:
        return self.path.suffix == ".c"


def read(request: Request) -> Source:
    """The source of a request; raises UsageError for an unknown suffix, SourceError for what cannot be read."""
    path = request.path
    content = _content(path)
    return Source(path, language(path), request.flags, hashlib.sha256(content).hexdigest())


def language(path: Path) -> Language:
    """The language that the file's suffix stands for; raises UsageError."""
    if path.suffix in _HEADERS:
        hint = f'compile a .cpp or .cu with `#include "{path.name}"`, and name by -k what of it is wanted'
        raise UsageError(f"{path.name}: adgen does not know whether the language of a header is C++ or CUDA", hint=hint)
    if path.suffix not in LANGUAGES:
        raise UsageError(
            f"{path.name}: adgen does not know the language of {path.suffix or 'a file without suffix'}",
            hint="CUDA is .cu or .cuh; C++ is .cpp, .cc, .cxx, .cp, .c++ or .C; C is .c",
        )
    return LANGUAGES[path.suffix]


def _content(path: Path) -> bytes:
    if not path.exists():
        raise _unreadable(path, "there is no such file", _near(path))
    if path.is_dir():
        raise _unreadable(path, "this is a folder, a file is needed", "name the .cu or .cpp file in it")
    language(path)
    if any(sign in str(path) for sign in '"\n\r'):
        raise _unreadable(path, "a path with a quote or a line break cannot be #included", "rename it")
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise _unreadable(path, f"cannot be read: {problem.strerror}", "check the file's permissions") from None
    if b"\0" in content:
        raise _unreadable(path, "this is not a text file", "adgen compiles source code, not binaries")
    return content


def _unreadable(path: Path, reason: str, hint: str) -> SourceError:
    return SourceError(reason, hint=hint, location=Location(str(path)))


def _near(path: Path) -> str:
    """What else lies there, for a mistyped name."""
    if not path.parent.is_dir():
        return f"the folder {path.parent} does not exist either"
    known = sorted(other.name for other in path.parent.iterdir() if other.suffix in LANGUAGES)
    listed = ", ".join(known[:8])
    return f"in {path.parent} there is {listed}" if listed else f"{path.parent} holds no CUDA or C++ file"
