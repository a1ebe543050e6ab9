"""Variants of kernels for blocks of other sizes, among which the launch chooses.

A thread's registers bound how many threads a block may have. Where that is fewer than 1,024, and the kernel does not
say that its blocks have no more, there are variants for larger blocks, with fewer registers. Very long kernels have
none, for which ptxas takes long. A variant that spills little for it is taken for smaller blocks, too, where two of
these fit at once with its registers, and only one with the kernel's; one that spills next to nothing, for all blocks.

A gradient that reduces in bulk (bulk-reduce-atomics) has room in shared memory for a block of 256 threads. Of smaller
blocks few would be on a multiprocessor at once: for these there are variants with less room. They may have more
registers than the kernel itself: published cross sections in blocks of 32 took 4.3 times their primal with 64, 3.5
times with 96 and 3.7 times with 128.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from enzyme_driver.model import BlockVariant
from enzyme_driver.targets.registers import (
    BLOCK,
    BOUNDS,
    DERIVATIVES,
    ENTRY,
    MOST_SPILLED,
    OF_A_BLOCK,
    REGISTERS,
    TOGETHER,
    Assembled,
    entry_of,
    for_blocks,
    spilled_bytes,
    used_registers,
    whole,
)

LAUNCHED = (*DERIVATIVES, "__second", "__batch")
"""Of the kernels that the runtime launches with the caller's blocks."""
SMALLER_BLOCKS, LARGER_BLOCKS = (32, 64, 128), (512, 1024)
"""Threads of the blocks that there are variants for; with all registers that a thread can have, 256 fit."""
OF_SMALLER_BLOCKS = 96
"""Registers that a thread of these has."""
LITTLE_SPILLED = 160
"""Bytes for which twice as many blocks at once are worth it: with 132, the gradient of a correlation took 0.87 of its
time."""
NEXT_TO_NOTHING_SPILLED = 112
"""Bytes for which more threads at once are always worth it: with 20 (softmax) a gradient took 0.91 of its time, with 52
(structural similarity) 0.72, with 100 (distances of points and faces) 0.90, but with 196 (lattice Boltzmann) 1.6 times
as long."""
LONGEST = 10_000
"""Lines of PTX that a kernel with variants has at most: ptxas was seen to take 8 s of a processor for 14,000."""

_RECORDS = re.compile(r"(?P<array>\.shared [^;\n]*_records(?P<stride>\d+)\[)(?P<bytes>\d+)(?=\];)")
"""The room of the records that are reduced in bulk, and a thread's part of it; NVPTX writes other letters for a dot."""


def for_other_blocks(
    made: Assembled, assemble: Callable[[str], str]
) -> tuple[str, dict[str, tuple[BlockVariant, ...]]]:
    """Assemble once more with variants of the kernels that need them.

    Returns the PTX with them, and them by the kernel's name, for more and more threads; the kernel itself is among
    them, unless another one is better for all of its blocks.
    """
    text, found = with_variants(made)
    spilled = spilled_bytes(assemble(text)) if found else {}
    return text, {name: _chosen(each, name, spilled, made.by_variant) for name, each in found.items()}


def with_variants(made: Assembled) -> tuple[str, dict[str, tuple[BlockVariant, ...]]]:
    """The PTX with all variants, and these by the kernel's name."""
    used = used_registers(made.report)
    found: dict[str, tuple[BlockVariant, ...]] = {}
    text = made.ptx
    for entry in ENTRY.finditer(made.ptx):
        name = entry["name"]
        if not name.endswith(LAUNCHED) or name not in used or entry["body"].count("\n") > LONGEST:
            continue
        fitting = threads_with(used[name])
        larger = [] if BLOCK.search(entry["directives"]) else [each for each in LARGER_BLOCKS if each > fitting]
        smaller = _smaller(entry["body"])
        text += "".join(_with_room(entry[0], name, threads) for threads in smaller)
        text += "".join(_with_registers(entry[0], name, threads, OF_A_BLOCK // threads) for threads in larger)
        if smaller or larger:
            found[name] = (
                *(BlockVariant(threads, for_blocks(name, threads)) for threads in smaller),
                BlockVariant(fitting, name),
                *(BlockVariant(threads, for_blocks(name, threads)) for threads in larger),
            )
    return text, found


def _chosen(
    variants: tuple[BlockVariant, ...], kernel: str, spilled: Mapping[str, int], by_variant: Collection[str]
) -> tuple[BlockVariant, ...]:
    """Which kernel is launched in which blocks."""
    if kernel not in by_variant:
        return _fuller(variants, kernel, spilled)
    at = next(place for place, each in enumerate(variants) if each.kernel == kernel)
    return _fuller(variants[:at] + variants[at + 1 :], variants[at + 1].kernel, spilled)


def _fuller(variants: tuple[BlockVariant, ...], kernel: str, spilled: Mapping[str, int]) -> tuple[BlockVariant, ...]:
    """A larger variant also for blocks of which more of it are on a multiprocessor at once than of the kernel."""
    at = next(place for place, each in enumerate(variants) if each.kernel == kernel)
    for place in range(len(variants) - 1, at, -1):
        if spilled.get(variants[place].kernel, MOST_SPILLED) <= NEXT_TO_NOTHING_SPILLED:
            return variants[:at] + variants[place:]
    own, larger = variants[at], variants[at + 1 : at + 2]
    if not larger or spilled.get(larger[0].kernel, MOST_SPILLED) > LITTLE_SPILLED:
        return variants
    few = BlockVariant(own.threads // 2, kernel)
    full = BlockVariant(larger[0].threads // 2, larger[0].kernel)
    return (*variants[:at], few, full, *variants[at:]) if full.threads < own.threads else variants


def threads_with(registers: int) -> int:
    """The threads that the largest block has whose threads have so many registers."""
    return min(LARGER_BLOCKS[-1], REGISTERS // whole(registers) * TOGETHER)


def _smaller(body: str) -> list[int]:
    """The threads of blocks that need less room than there is."""
    room = _RECORDS.search(body)
    return [each for each in SMALLER_BLOCKS if room and each * int(room["stride"]) < int(room["bytes"])]


def _with_room(entry: str, kernel: str, threads: int) -> str:
    """The same kernel by another name, with the room that a block of so many threads needs."""
    text = _RECORDS.sub(lambda room: f"{room['array']}{threads * int(room['stride'])}", entry)
    return _with_registers(text, kernel, threads, OF_SMALLER_BLOCKS)


def _with_registers(entry: str, kernel: str, threads: int, registers: int) -> str:
    """The same kernel by another name for blocks of so many threads, with so many registers for a thread."""
    found = entry_of(entry)
    directives = BOUNDS.sub("", found["directives"])
    return (
        "\n.visible "
        + entry[: found.start("name")]
        + for_blocks(kernel, threads)
        + entry[found.end("name") : found.start("directives")]
        + f"{directives}.maxnreg {registers}\n"
        + entry[found.end("directives") :]
        + "\n"
    )
