"""Argument values in memory, as the host library and the CUDA driver want them: a table of pointers to values."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

_ALIGNMENT = 64


class ArgumentTable:
    """Owns the memory of the values; `address` is that of the table, valid as long as this object lives."""

    def __init__(self, values: Sequence[bytes]) -> None:
        padded = [value.ljust(-(-len(value) // _ALIGNMENT) * _ALIGNMENT, b"\0") for value in values]
        data = b"".join(padded)
        self._memory = ctypes.create_string_buffer(len(data) + _ALIGNMENT)
        start = ctypes.addressof(self._memory)
        position = start + -start % _ALIGNMENT
        ctypes.memmove(position, data, len(data))
        addresses = []
        for value in padded:
            addresses.append(position)
            position += len(value)
        self._table = (ctypes.c_void_p * max(1, len(addresses)))(*addresses)
        self.address = ctypes.addressof(self._table)


def pointer_bytes(address: int) -> bytes:
    return address.to_bytes(8, "little")
