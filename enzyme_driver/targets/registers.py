"""How many registers the kernels of gradients get.

Left alone, ptxas gives a gradient's many values up to 255 registers a thread, and so few threads fit on a GPU that it
waits for memory most of the time. With 128 twice as many do, and what then has no register is kept in the cache.
That pays unless it is a loop that moves much of it there and back in every iteration, or more than the registers hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

LIMIT = 128
MOST_SPILLED = 4 * LIMIT
"""Bytes that a thread may keep elsewhere. With 1,080 a gradient took twice the time of one with 255 registers."""
MOST_SPILLED_WITH_LOOPS = 64
"""The same of a kernel with loops: a few values that are seldom needed cost nothing."""
DERIVATIVES = ("__gradient", "__tangent")

_ENTRY = re.compile(
    r"\.entry\s+(?P<name>\w+)\([^)]*\)(?P<directives>[^{]*)\{(?P<body>.*?)^\}", re.DOTALL | re.MULTILINE
)
_LABEL_OR_BRANCH = re.compile(r"^(?P<label>\$\w+):|\bbra(?:\.uni)?\s+(?P<target>\$\w+);", re.MULTILINE)
_PROPERTIES = re.compile(
    r"Function properties for (?P<name>\w+)\n.*?(?P<spilled>\d+) bytes spill stores.*?Used (?P<used>\d+) registers",
    re.DOTALL,
)


def bounded(ptx: str, report: str, assemble: Callable[[str], str]) -> None:
    """Assemble once more where a kernel takes too many registers.

    `report` is what `ptxas -v` says of `ptx`, and what `assemble` returns for another PTX. The last one stays.
    """
    chosen, loops = _greedy(report), _looping(ptx)
    while chosen:
        report = assemble(_limited(ptx, chosen))
        worse = chosen & (loops & _spilling(report, MOST_SPILLED_WITH_LOOPS) | _spilling(report, MOST_SPILLED))
        if not worse:
            return
        chosen -= worse
        if not chosen:
            assemble(ptx)


def _limited(ptx: str, names: Container[str]) -> str:
    """The same with at most LIMIT registers for a thread of these kernels."""

    def with_limit(entry: re.Match[str]) -> str:
        if entry["name"] not in names:
            return entry[0]
        place = entry.end("directives") - entry.start()
        return f"{entry[0][:place]}.maxnreg {LIMIT}\n{entry[0][place:]}"

    return _ENTRY.sub(with_limit, ptx)


def _greedy(report: str) -> set[str]:
    found = (each for each in _PROPERTIES.finditer(report) if int(each["used"]) > LIMIT)
    return {each["name"] for each in found if each["name"].endswith(DERIVATIVES)}


def _spilling(report: str, more_than: int) -> set[str]:
    return {each["name"] for each in _PROPERTIES.finditer(report) if int(each["spilled"]) > more_than}


def _looping(ptx: str) -> set[str]:
    return {entry["name"] for entry in _ENTRY.finditer(ptx) if _goes_back(entry["body"])}


def _goes_back(body: str) -> bool:
    """Whether a branch leads back, as the last one of a loop does."""
    seen: set[str] = set()
    for found in _LABEL_OR_BRANCH.finditer(body):
        if found["label"]:
            seen.add(found["label"])
        elif found["target"] in seen:
            return True
    return False
