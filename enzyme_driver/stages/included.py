"""Whether a file seems to include a header that is not there.

clang would say so at once, but for the headers before it, which it parses first. To ask the preprocessor alone takes a
fraction of that; it is asked where the text lets fear that something is missing, and only what it says counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](?P<name>[^>"\n]+)[>"]', re.MULTILINE)
_FOLDER = re.compile(r"-(?:I|isystem|iquote|idirafter)(?P<folder>.*)")
_SYSTEM = (Path("/usr/include"), Path("/usr/local/include"))


def seems_incomplete(file: Path, flags: Sequence[str], folders: Iterable[Path]) -> bool:
    """Whether the file, or a header of the user's in it, includes what is in none of these folders and the flags'."""
    searched = (*given_folders(flags), *folders, *_SYSTEM, *_SYSTEM[0].glob("*-linux-gnu"))
    seen, waiting = set[Path](), [file]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in _INCLUDE.findall(path.read_text(encoding="latin-1")):
            beside = path.parent / name
            if beside.is_file():
                waiting.append(beside)
            elif PurePosixPath(name).suffix and not any((folder / name).is_file() for folder in searched):
                return True
    return False


def given_folders(flags: Sequence[str]) -> Iterator[Path]:
    """The folders that flags name, each in the flag itself or in the next one."""
    for flag, following in zip(flags, (*flags[1:], ""), strict=False):
        found = _FOLDER.fullmatch(flag)
        if found:
            yield Path(found["folder"] or following)
