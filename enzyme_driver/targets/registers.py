"""How many registers the kernels of gradients get.

Left alone, ptxas gives a gradient's many values up to 255 registers a thread, and so few threads fit on a GPU that it
waits for memory most of the time. With 128 twice as many do, and what then has no register is kept in the cache; that
pays unless it is more than the registers hold. Where it takes fewer by itself, it gets all with which as many threads
fit: it does not use them unless it is told to. A gradient that reduces in bulk looks up where it adds: it waits for
memory above all, and gets 64.

Where the kernel says how large its blocks are at most (`__launch_bounds__`), ptxas has been seen to give 32 registers
to a gradient that needs 200, so that many blocks fit, and to keep kilobytes a thread elsewhere. It is then told of all
with which one such block can be launched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import prod

LIMIT, LIMIT_IN_BULK = 128, 64
MOST_SPILLED = 700
"""Bytes that a thread may keep elsewhere. With 540 a gradient took 0.83 of its time without, with 1,080 twice that."""
DERIVATIVES = ("__gradient", "__tangent")

REGISTERS, UNIT = 512, 8
"""Registers that the lanes at one scheduler share, for each lane, and the unit in which they are given out."""
OF_A_BLOCK, MOST, TOGETHER = 65536, 255, 128
"""Registers that a block has, and that a thread can have, and the threads that get theirs together."""

ENTRY = re.compile(r"\.entry\s+(?P<name>\w+)\([^)]*\)(?P<directives>[^{]*)\{(?P<body>.*?)^\}", re.DOTALL | re.MULTILINE)
_IN_BULK = "cp.reduce.async.bulk"
_BLOCK = re.compile(r"\.maxntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")
_BOUNDS = re.compile(r"\.(?:maxnreg|minnctapersm)\b")
_PROPERTIES = re.compile(
    r"Function properties for (?P<name>\w+)\n.*?(?P<spilled>\d+) bytes spill stores.*?Used (?P<used>\d+) registers",
    re.DOTALL,
)


def bounded(ptx: str, report: str, assemble: Callable[[str], str]) -> None:
    """Assemble once more where a kernel takes too many registers, or may have more.

    `report` is what `ptxas -v` says of `ptx`, and what `assemble` returns for another PTX. The last one stays.
    """
    limits, before = _limits(ptx, report), _spilled(report)
    while limits:
        after = _spilled(assemble(_limited(ptx, {name: first for name, (first, *_) in limits.items()})))
        worse = {name for name, spilled in after.items() if spilled > MOST_SPILLED and spilled >= before.get(name, 0)}
        if not limits.keys() & worse:
            return
        limits = {name: rest for name, all_ in limits.items() if (rest := all_[1:] if name in worse else all_)}
        if not limits:
            assemble(ptx)


def _limits(ptx: str, report: str) -> dict[str, list[int]]:
    """The registers that kernels of derivatives are to have, the best first, where those are others than they take.

    What spills much with all that it takes would spill more with fewer, and large kernels are assembled for long; it
    gets more where it did not take what its blocks leave it.
    """
    spilled = _spilled(report)
    used = {each["name"]: int(each["used"]) for each in _PROPERTIES.finditer(report)}
    limits = {}
    for entry in ENTRY.finditer(ptx):
        name, directives = entry["name"], entry["directives"]
        if name not in used or not name.endswith(DERIVATIVES) or _BOUNDS.search(directives):
            continue
        if spilled[name] > MOST_SPILLED:
            limits[name] = [limit for limit in _of_a_block(directives) if limit > used[name]]
        else:
            in_bulk = [LIMIT_IN_BULK] if _IN_BULK in entry["body"] and used[name] > LIMIT_IN_BULK else []
            limits[name] = [limit for limit in (*in_bulk, _most(used[name])) if limit != _whole(used[name])]
    return {name: each for name, each in limits.items() if each}


def _of_a_block(directives: str) -> list[int]:
    """As many as the kernel's largest block leaves a thread, where the kernel says how large that is."""
    found = _BLOCK.search(directives)
    if not found:
        return []
    threads = -(-prod(int(n or 1) for n in found.groups()) // TOGETHER) * TOGETHER
    return [min(MOST, OF_A_BLOCK // threads // UNIT * UNIT)]


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

    return ENTRY.sub(with_limit, ptx)


def _spilled(report: str) -> dict[str, int]:
    """The bytes that a thread of each kernel keeps elsewhere."""
    return {each["name"]: int(each["spilled"]) for each in _PROPERTIES.finditer(report)}
