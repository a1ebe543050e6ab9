"""What can be said of a kernel's code for a GPU without running it."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_INSTRUCTION = re.compile(r"^\s+(?:@!?%\w+ )?(?P<name>[a-z][\w.:]*)[^;]*;", re.MULTILINE)
_ADDITION = re.compile(r"(?:atom|red|cp\.reduce)\.(?!.*shared::cta|.*shared\.)")
_READ, _WRITE = (re.compile(rf"{word}\.(?!.*\b(?:param|shared|local|const)\b)") for word in ("ld", "st"))
_LOCAL = re.compile(r"(?:ld|st)\.(?:volatile\.)?local\b")

_SYMBOLS = 2
"""The type of an ELF section with symbols."""
_ENTRY, _SYMBOL, _HALVES, _PAIR = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ"), struct.Struct("<BBH"), "<II"
_VALUES, _REGISTERS = 4, 0x2F
"""Of a record of `.nv.info`: that its values follow, and that these are a kernel's symbol and its registers."""


@dataclass(frozen=True)
class Figures:
    """Registers of a thread, and instructions in PTX: those that read and write global memory, those that add to it
    atomically, those on a thread's own memory, and all. `tape` says whether something is kept for the reverse sweep.
    """

    registers: int
    reads: int
    writes: int
    additions: int
    local: int
    instructions: int
    tape: bool


def figures(kernel: str, ptx: str, cubin: bytes, *, tape: bool) -> Figures:
    """Of one kernel of a cubin and of the PTX that it was made of."""
    body = re.search(rf"\.entry {re.escape(kernel)}\(.*?^}}", ptx, re.DOTALL | re.MULTILINE)
    names = [found["name"] for found in _INSTRUCTION.finditer(body[0])] if body else []

    def count(pattern: re.Pattern[str]) -> int:
        return sum(pattern.match(name) is not None for name in names)

    return Figures(
        registers(cubin).get(kernel, 0),
        *(count(_READ), count(_WRITE), count(_ADDITION), count(_LOCAL)),
        instructions=len(names),
        tape=tape,
    )


def registers(cubin: bytes) -> dict[str, int]:
    """The registers of a thread of each kernel, as the driver reads them in the cubin, if it is one."""
    names: dict[int, str] = {}
    used: dict[int, int] = {}
    if not cubin.startswith(b"\x7fELF"):
        return {}
    for name, kind, content, names_of_symbols in _sections(cubin):
        if kind == _SYMBOLS:
            symbols = _SYMBOL.iter_unpack(content)
            names = {number: _text(names_of_symbols, symbol[0]) for number, symbol in enumerate(symbols)}
        elif name == ".nv.info":
            used = dict(_records(content, _REGISTERS))
    return {names[symbol]: count for symbol, count in used.items() if symbol in names}


def _sections(elf: bytes) -> Iterator[tuple[str, int, bytes, bytes]]:
    """Name, type and content of each section, and the content of the one that it is linked to."""
    (start,), (size, count, names) = struct.unpack_from("<Q", elf, 40), struct.unpack_from("<HHH", elf, 58)
    rows = [_ENTRY.unpack_from(elf, start + number * size) for number in range(count)]
    contents = [elf[row[4] : row[4] + row[5]] for row in rows]
    for row, content in zip(rows, contents, strict=True):
        yield _text(contents[names], row[0]), row[1], content, contents[row[6]] if row[6] < count else b""


def _records(info: bytes, wanted: int) -> Iterator[tuple[int, int]]:
    """The pairs of values of one attribute."""
    place = 0
    while place + _HALVES.size <= len(info):
        form, attribute, size = _HALVES.unpack_from(info, place)
        place += _HALVES.size
        if form == _VALUES:
            if attribute == wanted and size == struct.calcsize(_PAIR):
                symbol, value = struct.unpack_from(_PAIR, info, place)
                yield symbol, value
            place += size


def _text(names: bytes, place: int) -> str:
    return names[place : names.find(b"\0", place)].decode(errors="replace")
