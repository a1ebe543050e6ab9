"""What stands between the brackets of `kernel[grid, block, stream, shared_bytes]`."""

from __future__ import annotations

import ctypes
import operator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import ClassVar

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import Signature

Extent = tuple[int, int, int]

MAX_THREADS = 1024
MAX_BLOCK: Extent = (1024, 1024, 64)
MAX_GRID: Extent = (2**31 - 1, 65535, 65535)
_FORM = "write kernel[grid, block], kernel[grid, block, stream] or kernel[grid, block, stream, shared_bytes]"


class DescribedLaunch(ctypes.Structure):
    """`adgen_launch` of the header of a host library."""

    _fields_: ClassVar = [
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_uint64),
    ]


@dataclass(frozen=True)
class Launch:
    """Blocks, threads a block, the stream (None: the current one), and the bytes of dynamic shared memory, if said."""

    grid: Extent
    block: Extent
    stream: object = None
    said_bytes: int | None = None

    @cached_property
    def shared_bytes(self) -> int:
        """Of dynamic shared memory."""
        return self.said_bytes or 0

    @property
    def key(self) -> tuple[object, ...]:
        """What stands between the brackets."""
        return (self.grid, self.block, self.stream, self.said_bytes)

    @cached_property
    def described(self) -> DescribedLaunch:
        """As host libraries read it; a launch is often repeated."""
        return DescribedLaunch(self.grid, self.block, self.shared_bytes)


def launch_of(key: object, signature: Signature | None = None) -> Launch:
    """The launch that a subscript describes. Raises ArgumentError where no GPU could do it.

    Nor where the kernel with this signature has as much shared memory as the launch says, and this says nothing.
    """
    launch = _known_launch(key) if _is_plain(key) else _checked_launch(key)
    if signature is not None and signature.needs_shared_bytes and launch.said_bytes is None:
        raise ArgumentError(
            f"{signature.name} uses extern __shared__ memory, and the launch does not say how much",
            hint="give its bytes: kernel[grid, block, None, shared_bytes], shared_bytes= in a launch of an operator, "
            "--shared-bytes on the command line (0 where this launch uses none)",
        )
    return launch


def _is_plain(key: object) -> bool:
    """Whether equal keys are equal launches, which numbers of other types and streams need not be."""
    if type(key) is not tuple:
        return False
    if len(key) == 2 and type(key[0]) is int and type(key[1]) is int:  # noqa: PLR2004  (the most frequent, and quick)
        return True
    return all(
        part is None or type(part) is int or (type(part) is tuple and all(type(extent) is int for extent in part))
        for part in key
    )


def _checked_launch(key: object) -> Launch:
    if not isinstance(key, tuple) or not 2 <= len(key) <= 4:  # noqa: PLR2004  (grid and block at least)
        raise ArgumentError("a launch needs a grid and a block", hint=_FORM)
    grid, block = _extent(key[0], "grid", MAX_GRID), _extent(key[1], "block", MAX_BLOCK)
    if prod(block) > MAX_THREADS:
        raise ArgumentError(f"block {block} has {prod(block)} threads", hint=f"a block has at most {MAX_THREADS}")
    stream, shared_bytes = (*key[2:], None, None)[:2]
    return Launch(grid, block, stream, None if shared_bytes is None else _shared_bytes(shared_bytes))


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
    try:
        whole = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:  # also of arrays, which have an __index__ where they hold one number
        whole = None
    if whole is None:
        raise ArgumentError(f"{name} holds {value!r}, which is no whole number", hint=_FORM)
    return whole


def _shared_bytes(value: object) -> int:
    count = _whole(value, "shared_bytes")
    if not 0 <= count < 2**32:
        raise ArgumentError(f"shared_bytes {count} is out of range", hint="give a number of bytes, not negative")
    return count
