"""Macros of the command line that a CUDA file alone is to see.

clang reads CUDA's headers before the file, cuda.h among them, which nvcc leaves to those who include it; in them `N`
and its like are names of parameters. So a plain macro is defined behind those headers, and what headers ask for, such
as `NDEBUG` or `__CUDA_NO_HALF_OPERATORS__`, before them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

_FOR_HEADERS = re.compile(r"_\w*|NDEBUG|(CUDA|CUB|CCCL|THRUST|LIBCUDACXX|NV)\w*")
_NAME = re.compile(r"\w+")


def split(flags: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The flags without the macros that come behind the headers, and the lines that define these."""
    undone = {word[2:] for word in flags if word.startswith("-U")} | set(_values(flags, "-U"))
    before: list[str] = []
    behind: list[str] = []
    words = iter(flags)
    for word in words:
        given = next(words, "") if word == "-D" else word[2:] if word.startswith("-D") else ""
        name = _NAME.match(given)
        if not name or name[0] in undone or _FOR_HEADERS.fullmatch(name[0]):
            before += [word, given] if word == "-D" and given else [word]
            continue
        defined, sign, value = given.partition("=")
        behind.append(f"#define {defined} {value if sign else '1'}\n")
    return tuple(before), "".join(behind)


def _values(flags: Sequence[str], option: str) -> Iterator[str]:
    return (value for word, value in itertools.pairwise(flags) if word == option)
