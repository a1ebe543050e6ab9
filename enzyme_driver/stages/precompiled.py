"""clang's precompiled files of translation units in which it has met errors.

clang writes them (`-fallow-pch-with-compiler-errors`) but makes no code from one, because a mark in it says that there
were errors. Who knows that all of them lie in code of the host, of which none is made for the GPU, takes the mark away.
"""

from __future__ import annotations

import re
from pathlib import Path

_WORD = 16
_SEARCHED = 1 << 20
"""Bytes from the beginning in which the mark is looked for; what comes before it grows with the search path."""

_MARK = 4 * _WORD + 3
"""Bits from the beginning of clang's record METADATA to its mark: four words (the format's version, clang's), and
whether paths are relative, whether it is a module, and whether it keeps times."""


def without_errors(file: Path, version: str) -> bool:
    """Take the mark away from a file that clang of this version has written; false where it is not found."""
    found = re.match(r"\D*(\d+)\.(\d+)", version)
    if not found:
        return False
    content = bytearray(file.read_bytes())
    at = _record(bytes(content[:_SEARCHED]), int(found[1]), int(found[2]))
    if at is None:
        return False
    place, bit = divmod(at + _MARK, 8)
    content[place] &= ~(1 << bit) & 0xFF
    file.write_bytes(content)
    return True


def _record(head: bytes, major: int, minor: int) -> int | None:
    """The bit at which the record begins: a small number and 0, clang's version, and the mark set; None if not one."""
    wanted = (major << 2 * _WORD | minor << 3 * _WORD) >> _WORD
    found = []
    for shift in range(8):  # the record may begin within a byte: look for the same bytes at each shift
        bits = (int.from_bytes(head, "little") >> shift).to_bytes(len(head), "little")
        pattern = wanted.to_bytes(6, "little")
        place = bits.find(pattern)
        while place >= 0:
            start = 8 * place + shift - _WORD
            if start >= 0 and _is_metadata(head, start):
                found.append(start)
            place = bits.find(pattern, place + 1)
    return found[0] if len(found) == 1 else None


def _is_metadata(head: bytes, start: int) -> bool:
    record = int.from_bytes(head[start // 8 : start // 8 + 16], "little") >> start % 8
    version, mark = record & 0xFFFF, record >> _MARK & 1
    return 0 < version < 1 << 8 and mark == 1
