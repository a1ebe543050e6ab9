"""How many registers the kernels of gradients get.

Left alone, ptxas gives a gradient's many values up to 255 registers a thread, and so few threads fit on a GPU that it
waits for memory most of the time. With 128 twice as many do, and what then has no register is kept in the cache; that
pays unless it is more than the registers hold. Where it takes fewer by itself, it gets all with which as many threads
fit: it does not use them unless it is told to. A gradient that reduces in bulk looks up where it adds: it waits for
memory above all, and gets 64.

Where the kernel says how large its blocks are at most (`__launch_bounds__`), and not how many are to fit, ptxas gives
what spills in any case only the registers with which a multiprocessor is full: 32 a thread, and kilobytes a thread
elsewhere. It is then told of all with which one such block can be launched. How many blocks are to fit, the second
number of `__launch_bounds__`, was said of the primal: it holds for a gradient that spills nothing for it
and then takes no more than these registers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import prod

from enzyme_driver.errors import CompilerCrashError

LIMIT, LIMIT_IN_BULK = 128, 64
MOST_SPILLED = 900
"""Bytes that a thread may keep elsewhere. With 540 a gradient took 0.83 of its time without, another with 872 took 0.79
(RSBench), and with 1,080 twice that."""
MOST_SPILLED_WITHOUT_TAPE = 640
"""The same of a gradient that keeps nothing, and so waits for memory less: with 540 bytes one with two sweeps in one
(multipoles) took 0.78 of its time with 192 registers, others with 728 and 916 (with all arrays in a struct; RSBench)
1.34 and 1.1 of theirs with 255."""
MOST_SPILLED_OF_PRODUCTS = 256
"""The same of a kernel that multiplies on Tensor Cores: a loop goes through all that waits for its products in each
step. With 480 bytes a gradient of a layer took 1.6 times as long as with 20 and fewer threads, with 860 three times."""
MISSING = 8
"""Bytes that are spilled for each register that is missing, about: six to fourteen in kernels of LULESH."""
FEW_SPILLED = 32
"""Bytes for which a thread does not get more registers, and the multiprocessor fewer threads, than ptxas has chosen."""
DERIVATIVES = ("__gradient", "__tangent", "__gradient_lent")
_GRADIENT, _TAPE = DERIVATIVES[0], "__tape"
REGISTERS, UNIT = 512, 8
"""Registers that the lanes at one scheduler share, for each lane, and the unit in which they are given out."""
OF_A_BLOCK, MOST, TOGETHER = 65536, 255, 128
"""Registers that a block has, and that a thread can have, and the threads that get theirs together."""

ENTRY = re.compile(r"\.entry\s+(?P<name>\w+)\([^)]*\)(?P<directives>[^{]*)\{(?P<body>.*?)^\}", re.DOTALL | re.MULTILINE)
_IN_BULK, _PRODUCT = "cp.reduce.async.bulk", "mma.sync"
KERNEL = re.compile(rf"(?:\.(?:visible|weak)\s+)?{ENTRY.pattern}", ENTRY.flags)
_FUNCTION = re.compile(r"^(?:\.(?:visible|weak)\s+)?\.func\b", re.MULTILINE)
BLOCK = re.compile(r"\.maxntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")
BOUNDS = re.compile(r"\.(?:maxnreg|minnctapersm)\s+\d+\s*")
_BLOCKS = re.compile(r"\.minnctapersm\s+\d+\s*")
_PROPERTIES = re.compile(
    r"Function properties for (?P<name>\w+)\n.*?(?P<spilled>\d+) bytes spill stores.*\n.*Used (?P<used>\d+) registers"
)
"""Of kernels; of functions that they call, ptxas does not say what they use."""


@dataclass(frozen=True)
class Assembled:
    """What was given to ptxas, and what `ptxas -v` says of it. In place of kernels `by_variant` their variant with
    LIMIT registers is to be launched, also in small blocks.
    """

    ptx: str
    report: str
    by_variant: frozenset[str] = frozenset()


def bounded(
    ptx: str, report: str, assemble: Callable[[str], str], foreseen: Callable[[Assembled], str] | None = None
) -> Assembled:
    """The same with other bounds where a kernel takes too many registers, or may have more.

    `report` is what `ptxas -v` says of `ptx`, and what `assemble` returns for another PTX. That has only the kernels of
    which it must be known: what it says of the others holds on, and they may take long. At the first time it is what is
    `foreseen` to be assembled at last, so that this need not be done again: bounds will most likely do, but for kernels
    that miss many registers then. These keep theirs, and their variant for larger blocks, which has the same bound,
    tells what they would spill; if that is not too much, the variant stands for them.
    """
    crowded = _crowded(ptx, report)
    if crowded:
        ptx = _edited(ptx, dict.fromkeys(crowded, lambda directives: _BLOCKS.sub("", directives)))
        report += assemble(_alone(ptx, crowded))
    limits, before, most = _limits(ptx, report), spilled_bytes(report), _most_spilled(ptx)
    tried, said, by_variant = _in_doubt(limits, report, most), report, set[str]()
    while tried:
        heard, shown = "", set[str]()
        if foreseen:
            shown = _missing_many(tried, limits, report, most)
            bounds = {name: each for name, each in limits.items() if name not in shown}
            guessed = foreseen(Assembled(_limited(ptx, bounds), said + _as_bounded(tried - shown, limits)))
            foreseen = None
            if all(f".entry {_limited_variant(name)}(" in guessed for name in shown):
                with suppress(CompilerCrashError):  # out of time, perhaps for what is only foreseen
                    heard = assemble(guessed)
        shown = shown if heard else set()
        heard = heard or assemble(_alone(_limited(ptx, limits), tried))
        said += _about(tried - shown, heard) + _of_variants(shown, heard)
        spilled = spilled_bytes(said)
        worse = {name for name in tried if spilled[name] > most[name] and spilled[name] >= before[name]}
        by_variant |= shown - worse
        said += _about(worse | by_variant, report)
        rest = {name: all_[1:] if name in worse else all_ for name, all_ in limits.items() if name not in by_variant}
        limits = {name: all_ for name, all_ in rest.items() if all_}
        tried = worse & limits.keys()
    return Assembled(_limited(ptx, limits), said, frozenset(by_variant))


def _missing_many(
    kernels: Collection[str], limits: Mapping[str, list[int]], report: str, most: Mapping[str, int]
) -> set[str]:
    """Those that will likely spill too much with LIMIT registers, and have no other bound before."""
    used, spilled = used_registers(report), spilled_bytes(report)
    bounded_first = [name for name in kernels if limits[name][0] == LIMIT]
    return {name for name in bounded_first if spilled[name] + MISSING * (used[name] - LIMIT) > most[name]}


def _in_doubt(limits: Mapping[str, list[int]], report: str, most: Mapping[str, int]) -> set[str]:
    """The kernels that could spill too much: not those that spill little without, and get more registers."""
    spilled, used = spilled_bytes(report), used_registers(report)
    return {name for name, (limit, *_) in limits.items() if limit < used[name] or spilled[name] > most[name]}


def for_blocks(kernel: str, threads: int) -> str:
    """The name of a kernel's variant for blocks of so many threads."""
    return f"{kernel}__block{threads}"


def _limited_variant(kernel: str) -> str:
    return for_blocks(kernel, OF_A_BLOCK // LIMIT)


def _of_variants(kernels: Collection[str], report: str) -> str:
    """What the report says of the variants with LIMIT registers, in the names of the kernels."""
    variants = {_limited_variant(name): name for name in kernels}
    return "".join(
        each[0].replace(each["name"], variants[each["name"]], 1) + "\n"
        for each in _PROPERTIES.finditer(report)
        if each["name"] in variants
    )


def _as_bounded(kernels: Collection[str], limits: Mapping[str, list[int]]) -> str:
    """What ptxas will say of kernels that use all registers that they may."""
    return "".join(
        f"Function properties for {name}\n    0 bytes spill stores\nUsed {limits[name][0]} registers\n"
        for name in kernels
    )


def _about(kernels: Collection[str], report: str) -> str:
    """What the report says of these alone."""
    return "".join(f"{each[0]}\n" for each in _PROPERTIES.finditer(report) if each["name"] in kernels)


def _alone(ptx: str, kernels: Collection[str]) -> str:
    """The same without other kernels; all of it where functions are called, whose code may follow from all callers."""
    if _FUNCTION.search(ptx):
        return ptx
    return without(ptx, {each["name"] for each in ENTRY.finditer(ptx)}.difference(kernels))


def without(ptx: str, kernels: Collection[str]) -> str:
    return KERNEL.sub(lambda each: "" if each["name"] in kernels else each[0], ptx)


def _most_spilled(ptx: str) -> dict[str, int]:
    names = {entry["name"] for entry in ENTRY.finditer(ptx)}

    def of(entry: re.Match[str]) -> int:
        if _PRODUCT in entry["body"]:
            return MOST_SPILLED_OF_PRODUCTS
        without_tape = entry["name"].endswith(_GRADIENT) and entry["name"].removesuffix(_GRADIENT) + _TAPE not in names
        return MOST_SPILLED_WITHOUT_TAPE if without_tape else MOST_SPILLED

    return {entry["name"]: of(entry) for entry in ENTRY.finditer(ptx)}


def _crowded(ptx: str, report: str) -> list[str]:
    """The kernels of derivatives that spill because so many blocks are to fit, or of which fewer fit than could."""
    spilled, used = spilled_bytes(report), used_registers(report)
    return [
        name
        for entry in ENTRY.finditer(ptx)
        if (name := entry["name"]).endswith(DERIVATIVES)
        and (spilled.get(name) or used.get(name, 0) > LIMIT)
        and _BLOCKS.search(entry["directives"])
    ]


def _limits(ptx: str, report: str) -> dict[str, list[int]]:
    """The registers that kernels of derivatives are to have, the best first, where those are others than they take.

    What spills much with all that it takes would spill more with fewer, and large kernels are assembled for long; it
    gets more where it did not take what its blocks leave it.
    """
    spilled, used, limits = spilled_bytes(report), used_registers(report), {}
    for entry in ENTRY.finditer(ptx):
        name, directives = entry["name"], entry["directives"]
        if name not in used or not name.endswith(DERIVATIVES) or BOUNDS.search(directives):
            continue
        left = _of_a_block(directives)
        if spilled[name] > MOST_SPILLED:
            limits[name] = [limit for limit in left if limit > used[name]]
        else:
            in_bulk = [LIMIT_IN_BULK] if _IN_BULK in entry["body"] and used[name] > LIMIT_IN_BULK else []
            most = min(LIMIT, *left) if spilled[name] > FEW_SPILLED and left else _most(used[name])
            limits[name] = [limit for limit in (*in_bulk, most) if limit != whole(used[name])]
    return {name: each for name, each in limits.items() if each}


def _of_a_block(directives: str) -> list[int]:
    """As many as the kernel's largest block leaves a thread, where the kernel says how large that is."""
    found = BLOCK.search(directives)
    if not found:
        return []
    threads = -(-prod(int(n or 1) for n in found.groups()) // TOGETHER) * TOGETHER
    return [min(MOST, OF_A_BLOCK // threads // UNIT * UNIT)]


def _most(used: int) -> int:
    """As many as leave room for as many warps, or LIMIT."""
    return min(LIMIT, REGISTERS // (REGISTERS // whole(used)) // UNIT * UNIT)


def whole(used: int) -> int:
    return max(-(-used // UNIT), 4) * UNIT


def _limited(ptx: str, limits: Mapping[str, list[int]]) -> str:
    """The same with as many registers for a thread of these kernels as is best."""

    def told(limit: int) -> Callable[[str], str]:
        return lambda directives: f"{directives}.maxnreg {limit}\n"

    return _edited(ptx, {name: told(limit) for name, (limit, *_) in limits.items()})


def _edited(ptx: str, edits: Mapping[str, Callable[[str], str]]) -> str:
    """The same with other directives at these kernels."""

    def edited(entry: re.Match[str]) -> str:
        edit = edits.get(entry["name"])
        if edit is None:
            return entry[0]
        begin, end = (place - entry.start() for place in entry.span("directives"))
        return entry[0][:begin] + edit(entry["directives"]) + entry[0][end:]

    return ENTRY.sub(edited, ptx)


def entry_of(text: str) -> re.Match[str]:
    found = ENTRY.match(text)
    if found is None:
        raise ValueError(text)
    return found


def used_registers(report: str) -> dict[str, int]:
    """The registers of a thread of each kernel."""
    return {each["name"]: int(each["used"]) for each in _PROPERTIES.finditer(report)}


def spilled_bytes(report: str) -> dict[str, int]:
    """The bytes that a thread of each kernel keeps elsewhere."""
    return {each["name"]: int(each["spilled"]) for each in _PROPERTIES.finditer(report)}
