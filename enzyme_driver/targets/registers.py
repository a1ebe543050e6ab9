"""How many registers the kernels of gradients get.

Left alone, ptxas gives a gradient's many values up to 255 registers a thread, and so few threads fit on a GPU that it
waits for memory most of the time. With 128 twice as many do, and what then has no register is kept in the cache; that
pays unless it is more than the registers hold. Where it takes fewer by itself, it gets all with which as many threads
fit: it does not use them unless it is told to. A gradient that reduces in bulk looks up where it adds: it waits for
memory above all, and gets 64.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

LIMIT, LIMIT_IN_BULK = 128, 64
MOST_SPILLED = 700
"""Bytes that a thread may keep elsewhere. With 540 a gradient took 0.83 of its time without, with 1,080 twice that."""
DERIVATIVES = ("__gradient", "__tangent")

REGISTERS, UNIT = 512, 8
"""Registers that the lanes at one scheduler share, for each lane, and the unit in which they are given out."""

_ENTRY = re.compile(
    r"\.entry\s+(?P<name>\w+)\([^)]*\)(?P<directives>[^{]*)\{(?P<body>.*?)^\}", re.DOTALL | re.MULTILINE
)
_IN_BULK = "cp.reduce.async.bulk"
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
        worse = _spilling(assemble(_limited(ptx, {name: first for name, (first, *_) in limits.items()})))
        if not limits.keys() & worse:
            return
        limits = {name: rest for name, all_ in limits.items() if (rest := all_[1:] if name in worse else all_)}
        if not limits:
            assemble(ptx)


def _limits(ptx: str, report: str) -> dict[str, list[int]]:
    """The registers that kernels of derivatives are to have, the best first, where those are others than they take.

    What spills much with all that it takes would spill more with fewer, and large kernels are assembled for long.
    """
    worse = _spilling(report)
    used = {each["name"]: int(each["used"]) for each in _PROPERTIES.finditer(report) if each["name"] not in worse}
    limits = {}
    for entry in _ENTRY.finditer(ptx):
        name = entry["name"]
        if name in used and name.endswith(DERIVATIVES) and not _BOUNDS.search(entry["directives"]):
            in_bulk = [LIMIT_IN_BULK] if _IN_BULK in entry["body"] and used[name] > LIMIT_IN_BULK else []
            limits[name] = [limit for limit in (*in_bulk, _most(used[name])) if limit != _whole(used[name])]
    return {name: each for name, each in limits.items() if each}


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
