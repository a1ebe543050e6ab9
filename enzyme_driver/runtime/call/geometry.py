"""What stands between the brackets of `kernel[grid, block, stream, shared_bytes]`."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from enzyme_driver.errors import ArgumentError

Extent = tuple[int, int, int]

MAX_THREADS = 1024
MAX_BLOCK: Extent = (1024, 1024, 64)
MAX_GRID: Extent = (2**31 - 1, 65535, 65535)
_FORM = "write kernel[grid, block], kernel[grid, block, stream] or kernel[grid, block, stream, shared_bytes]"


@dataclass(frozen=True)
class Launch:
    """Blocks, threads a block, the stream (None: the current one), and the bytes of dynamic shared memory."""

    grid: Extent
    block: Extent
    stream: object = None
    shared_bytes: int = 0


def launch_of(key: object) -> Launch:
    """The launch that a subscript describes. Raises ArgumentError where no GPU could do it."""
    if _is_plain(key):
        return _known_launch(key)
    return _checked_launch(key)


def _is_plain(key: object) -> bool:
    """Whether equal keys are equal launches, which numbers of other types and streams need not be."""
    return type(key) is tuple and all(
        type(part) is int or (type(part) is tuple and all(type(extent) is int for extent in part)) for part in key
    )


def _checked_launch(key: object) -> Launch:
    if not isinstance(key, tuple) or not 2 <= len(key) <= 4:  # noqa: PLR2004  (grid and block at least)
        raise ArgumentError("a launch needs a grid and a block", hint=_FORM)
    grid, block = _extent(key[0], "grid", MAX_GRID), _extent(key[1], "block", MAX_BLOCK)
    if prod(block) > MAX_THREADS:
        raise ArgumentError(f"block {block} has {prod(block)} threads", hint=f"a block has at most {MAX_THREADS}")
    stream = key[2] if len(key) > 2 else None  # noqa: PLR2004
    return Launch(grid, block, stream, _shared_bytes(key[3]) if len(key) > 3 else 0)  # noqa: PLR2004


_known_launch = lru_cache(maxsize=1024)(_checked_launch)


def _extent(value: object, name: str, limits: Extent) -> Extent:
    parts = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(parts) <= 3:  # noqa: PLR2004  (dimensions)
        raise ArgumentError(f"{name} has {len(parts)} dimensions", hint="give an int or a tuple of up to three")
    whole = [_whole(part, name) for part in parts] + [1] * (3 - len(parts))
    for number, limit in zip(whole, limits, strict=True):
        if not 1 <= number <= limit:
            raise ArgumentError(f"{name} {tuple(whole)} is out of range", hint=f"each part lies in 1 to {limits}")
    return (whole[0], whole[1], whole[2])


def _whole(value: object, name: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentError(f"{name} holds {value!r}, which is no whole number", hint=_FORM)
    return operator.index(value)


def _shared_bytes(value: object) -> int:
    count = _whole(value, "shared_bytes")
    if not 0 <= count < 2**32:
        raise ArgumentError(f"shared_bytes {count} is out of range", hint="give a number of bytes, not negative")
    return count
