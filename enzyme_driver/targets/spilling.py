"""Where a gradient's numbers go that have no register: into a block's shared memory, as far as it has room.

ptxas puts them there where a kernel asks for it, else in the thread's local memory, which lies behind the second-level
cache where the first does not hold it. It takes as much shared memory as leaves room for as many blocks.

It takes it for the threads of the largest block that the kernel may have, but finds a thread's part by its warp and its
lane: with blocks of 25 threads, all but the first numbers of a warp lie behind the block's memory, where an access ends
the kernel (seen with 13.0). So only kernels ask whose largest block is known and consists of whole warps. Nor do those
whose memory begins behind what the file declares (dynamic shared memory), those that call functions, and those whose
blocks all have to be on the GPU at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod

from enzyme_driver.targets.registers import BLOCK, DERIVATIVES, ENTRY

FIRST = 13
"""The first major version of ptxas that is asked."""
ASKS = '.pragma "enable_smem_spilling";'
MUCH_SPILLED = 900
"""Bytes that a thread keeps elsewhere, for which a kernel asks: with 2,300 (LULESH's forces of a volume) a gradient
took 0.70 of its time."""
_WARP = 32
_VERSION = re.compile(r"^\.version (\d+)\.(\d+)$", re.MULTILINE)
_NEEDED = (9, 0)
"""The version of PTX that has the pragma."""
_DYNAMIC = re.compile(r"\.extern\s+\.shared\s[^;]*?(\w+)\[\];")
_OTHERWISE = re.compile(r"\bcall\b|\bsetmaxnreg\b|%(?:dynamic|total)_smem_size|%envreg")
"""Calls, registers that warps hand on, dynamic shared memory, and barriers of the whole grid."""


def to_shared_memory(ptx: str, spilled: Mapping[str, int]) -> str:
    """The PTX in which kernels ask for it; `spilled` are the bytes that a thread of each keeps elsewhere without."""
    dynamic = set(_DYNAMIC.findall(ptx))
    asking = {
        entry["name"]
        for entry in ENTRY.finditer(ptx)
        if spilled.get(entry["name"], 0) > MUCH_SPILLED and may_ask(entry, dynamic)
    }
    if not asking:
        return ptx

    def asked(entry: re.Match[str]) -> str:
        body = entry.start("body") - entry.start()
        return entry[0][:body] + f"\n\t{ASKS}" + entry[0][body:] if entry["name"] in asking else entry[0]

    return ENTRY.sub(asked, _VERSION.sub(_new_enough, ptx, count=1))


def may_ask(entry: re.Match[str], dynamic: set[str]) -> bool:
    """Whether ptxas knows the block of a derivative's kernel, and all of its shared memory."""
    block = BLOCK.search(entry["directives"])
    whole_warps = block is not None and prod(int(count or 1) for count in block.groups()) % _WARP == 0
    if not whole_warps or not entry["name"].endswith(DERIVATIVES) or _OTHERWISE.search(entry["body"]):
        return False
    return dynamic.isdisjoint(re.findall(r"\w+", entry["body"]))


def _new_enough(version: re.Match[str]) -> str:
    found = (int(version[1]), int(version[2]))
    return ".version {}.{}".format(*max(found, _NEEDED))
