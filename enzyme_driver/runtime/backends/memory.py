"""Plain bytes of the host or of a GPU: taken, copied, set to zero, in order with the launches on one stream."""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from enzyme_driver.model import Target
from enzyme_driver.runtime.backends.driver import api, done, on_device, synchronize
from enzyme_driver.runtime.backends.libraries import NumpyLibrary, library_of
from enzyme_driver.runtime.backends.streams import DEFAULT, stream_handle, wait_for
from enzyme_driver.runtime.call.arrays import ArrayView

_ALIGNMENT = 256


@dataclass(frozen=True)
class Block:
    """Memory that stays as long as this object does."""

    address: int
    owner: object


class Memory(Protocol):
    """What the tape asks of a target. Sizes in bytes; `like` is an array of the library that memory is taken from."""

    stream: int | None

    def follow(self, others: Iterable[Memory]) -> None:
        """Let what comes next here wait for what was queued on the streams of the others."""

    def take(self, count: int, like: object, address: int) -> Block:
        """New memory, aligned as `address` is."""

    def copy(self, target: int, source: int, count: int) -> None: ...

    def zero(self, address: int, count: int) -> None: ...

    def read(self, address: int, count: int) -> bytes: ...

    def checksum(self, address: int, count: int) -> int | None:
        """A number that changes with the content, None where it would take too long."""


class HostMemory:
    """The memory of this process."""

    stream: int | None = None

    def follow(self, others: Iterable[Memory]) -> None:
        """Everything is done when a call returns."""

    def take(self, count: int, like: object, address: int) -> Block:
        del like
        owner = NumpyLibrary().memory(count + _ALIGNMENT, None)
        return Block(_aligned_like(owner.ctypes.data, address), owner)

    def copy(self, target: int, source: int, count: int) -> None:
        ctypes.memmove(target, source, count)

    def zero(self, address: int, count: int) -> None:
        ctypes.memset(address, 0, count)

    def read(self, address: int, count: int) -> bytes:
        return ctypes.string_at(address, count)

    def checksum(self, address: int, count: int) -> int:
        return zlib.crc32((ctypes.c_char * count).from_address(address))


class DeviceMemory:
    """The memory of a GPU, in the order of a stream."""

    def __init__(self, device: int, stream: int) -> None:
        self.device = device
        self.stream: int | None = stream

    def follow(self, others: Iterable[Memory]) -> None:
        with on_device(self.device):
            wait_for((other.stream for other in others if other.stream is not None), self._stream)

    def take(self, count: int, like: object, address: int) -> Block:
        library = library_of(like, "cuda")
        with library.on(self.stream or None):  # the default stream has no wrapper everywhere
            owner = library.memory(count + _ALIGNMENT, like)
        start = owner.__cuda_array_interface__["data"][0]
        return Block(_aligned_like(start, address), owner)

    def copy(self, target: int, source: int, count: int) -> None:
        with on_device(self.device):
            done(api().cuMemcpyDtoDAsync(target, source, count, self.stream), "GPU memory cannot be copied")

    def zero(self, address: int, count: int) -> None:
        if not count:
            return
        with on_device(self.device):
            done(api().cuMemsetD8Async(address, 0, count, self.stream), "GPU memory cannot be set")

    def read(self, address: int, count: int) -> bytes:
        data = ctypes.create_string_buffer(count)
        with on_device(self.device):
            copied = api().cuMemcpyDtoHAsync(ctypes.addressof(data), address, count, self.stream)
            done(copied, "GPU memory cannot be copied")
            synchronize(self._stream)
        return data.raw

    def checksum(self, address: int, count: int) -> None:
        del address, count

    @property
    def _stream(self) -> int:
        return self.stream or DEFAULT


def memory_of(target: Target, stream: object, views: Sequence[ArrayView], arrays: Iterable[object]) -> Memory:
    """The memory that these arrays are in, in the order of the stream (None: their library's current one)."""
    if target == "openmp":
        return HostMemory()
    from enzyme_driver.runtime.backends.cuda import device_of_views

    device = device_of_views(views)
    with on_device(device):
        return DeviceMemory(device, stream_handle(stream, arrays, device))


def _aligned_like(start: int, address: int) -> int:
    return start + (address - start) % _ALIGNMENT
