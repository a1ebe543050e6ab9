"""Argument values in memory, as the host library and the CUDA driver want them: a table of pointers to values."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from itertools import accumulate

_ALIGNMENT = 64


class ArgumentTable:
    """Owns the memory of the values; `address` is that of the table, valid as long as this object lives."""

    def __init__(self, values: Sequence[bytes]) -> None:
        padded = [value.ljust(-(-len(value) // _ALIGNMENT) * _ALIGNMENT, b"\0") for value in values]
        ends = list(accumulate(map(len, padded), initial=0))
        size = ends.pop()
        self._memory = ctypes.create_string_buffer(size + 8 * len(values) + _ALIGNMENT)
        start = ctypes.addressof(self._memory)
        first = start + -start % _ALIGNMENT
        self.address = first + size
        data = b"".join(padded) + struct.pack(f"={len(ends)}Q", *[first + offset for offset in ends])
        ctypes.memmove(first, data, len(data))


def pointer_bytes(address: int) -> bytes:
    return address.to_bytes(8, "little")
