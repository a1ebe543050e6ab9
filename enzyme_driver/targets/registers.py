"""How many registers the kernels of gradients get.

Left alone, ptxas gives a gradient's many values up to 255 registers a thread, and so few threads fit on a GPU that it
waits for memory most of the time. With 128 twice as many do, and what then has no register is kept in the cache; that
pays unless it is more than the registers hold. Where it takes fewer by itself, it gets all with which as many threads
fit: it does not use them unless it is told to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

LIMIT = 128
MOST_SPILLED = 700
"""Bytes that a thread may keep elsewhere. With 540 a gradient took 0.83 of its time without, with 1,080 twice that."""
DERIVATIVES = ("__gradient", "__tangent")

REGISTERS, UNIT = 512, 8
"""Registers that the lanes at one scheduler share, for each lane, and the unit in which they are given out."""

_ENTRY = re.compile(
    r"\.entry\s+(?P<name>\w+)\([^)]*\)(?P<directives>[^{]*)\{(?P<body>.*?)^\}", re.DOTALL | re.MULTILINE
)
_BOUNDS = re.compile(r"\.(?:maxnreg|minnctapersm)\b")
_PROPERTIES = re.compile(
    r"Function properties for (?P<name>\w+)\n.*?(?P<spilled>\d+) bytes spill stores.*?Used (?P<used>\d+) registers",
    re.DOTALL,
)


def bounded(ptx: str, report: str, assemble: Callable[[str], str]) -> None:
    """Assemble once more where a kernel takes too many registers, or may have more.

    `report` is what `ptxas -v` says of `ptx`, and what `assemble` returns for another PTX. The last one stays.
    """
    limits = _limits(ptx, report)
    while limits:
        worse = _spilling(assemble(_limited(ptx, limits)))
        if not limits.keys() & worse:
            return
        limits = {name: limit for name, limit in limits.items() if name not in worse}
        if not limits:
            assemble(ptx)


def _limits(ptx: str, report: str) -> dict[str, int]:
    """The registers that kernels of derivatives are to have, where those are others than they take."""
    free = {entry["name"] for entry in _ENTRY.finditer(ptx) if not _BOUNDS.search(entry["directives"])}
    used = {each["name"]: int(each["used"]) for each in _PROPERTIES.finditer(report)}
    limits = {name: _most(count) for name, count in used.items() if name in free and name.endswith(DERIVATIVES)}
    return {name: limit for name, limit in limits.items() if limit != _whole(used[name])}


def _most(used: int) -> int:
    """As many as leave room for as many warps, or LIMIT."""
    return min(LIMIT, REGISTERS // (REGISTERS // _whole(used)) // UNIT * UNIT)


def _whole(used: int) -> int:
    return max(-(-used // UNIT), 4) * UNIT


def _limited(ptx: str, limits: Mapping[str, int]) -> str:
    """The same with so many registers for a thread of these kernels."""

    def with_limit(entry: re.Match[str]) -> str:
        if entry["name"] not in limits:
            return entry[0]
        place = entry.end("directives") - entry.start()
        return f"{entry[0][:place]}.maxnreg {limits[entry['name']]}\n{entry[0][place:]}"

    return _ENTRY.sub(with_limit, ptx)


def _spilling(report: str) -> set[str]:
    return {each["name"] for each in _PROPERTIES.finditer(report) if int(each["spilled"]) > MOST_SPILLED}
