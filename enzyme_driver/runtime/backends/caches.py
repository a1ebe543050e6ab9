"""The tape of a gradient: GPU memory for what the reverse sweep needs of the forward one, for all resident threads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod

from enzyme_driver.errors import DeviceError
from enzyme_driver.runtime.backends.cubins import LoadedCode
from enzyme_driver.runtime.backends.driver import api, attribute_of, done, is_capturing, synchronize
from enzyme_driver.runtime.backends.kept import NO_NUMBER, wants_no_numbers_kept
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.packing import pointer_bytes

_WARP = 32
_COUNTER_BYTES = 8
_ALIGNMENT = 256  # bytes, as the driver aligns memory
_EXCEEDED = "adgen_tape_exceeded"
_SLACK = 1.25  # threads that race for work may keep more than they did when it was measured


def with_slack(lane_bytes: int) -> int:
    """What a lane gets where the kernel had to be run to measure it."""
    return -(-int(lane_bytes * _SLACK) // _COUNTER_BYTES) * _COUNTER_BYTES


def check_tape(code: LoadedCode, stream: int) -> None:
    """Wait for the stream; raise DeviceError where a launch on it needed more tape than was measured."""
    if code.lowers_flag(_EXCEEDED, stream):
        raise DeviceError(
            "the gradient kept more than when it was measured; the shadows are worthless now",
            hint="its loops depend on the order in which threads come to memory: let each thread have work of its own",
        )


@dataclass(frozen=True)
class DeviceTape:
    """`lane_bytes` for each of 32 lanes of every warp of `blocks` blocks, at `address`."""

    address: int
    lane_bytes: int
    blocks: int

    def arguments(self, launch: Launch) -> tuple[bytes, ...]:
        """What the gradient takes behind its own arguments (docs/architecture.md)."""
        extents = (extent.to_bytes(4, "little") for extent in launch.grid)
        return (pointer_bytes(self.address), self.lane_bytes.to_bytes(8, "little"), *extents)


class KnownSizes:
    """Sizes of tapes that depend on nothing but a launch's scalars, grid and block."""

    _MOST = 4096

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def of(self, launch: Hashable, measure: Callable[[], int]) -> int:
        if launch not in self._known:
            if len(self._known) >= self._MOST:
                self._known.clear()
            self._known[launch] = measure()
        return self._known[launch]


@dataclass
class DeviceTapes:
    """The tapes of one device, one a stream; each grows when it has to and is kept for the next gradient."""

    limit: int
    _memory: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    _resident: dict[tuple[str, int, int], int] = field(default_factory=dict)

    def counter(self, stream: int) -> int:
        """The address of a number in GPU memory, zero for what is queued on the stream next."""
        address = self._reserve("counter", _COUNTER_BYTES, stream)
        done(api().cuMemsetD8Async(address, 0, _COUNTER_BYTES, stream), "GPU memory cannot be set")
        return address

    def read_counter(self, stream: int) -> int:
        """Wait for the stream; the number."""
        value = ctypes.c_uint64()
        address, _ = self._memory["counter", stream]
        copied = api().cuMemcpyDtoHAsync(ctypes.addressof(value), address, _COUNTER_BYTES, stream)
        done(copied, "the size of the tape cannot be read")
        synchronize(stream)
        return value.value

    def tape(
        self, code: LoadedCode, symbol: str, lane_bytes: int, launch: Launch, dynamic: int, stream: int
    ) -> DeviceTape:
        """A tape for as many blocks as the GPU runs at once, or as the limit allows.

        Raises DeviceError where the limit is too small for one block, or the GPU has not that much memory.
        """
        threads = prod(launch.block)
        block_bytes = -(-threads // _WARP) * _WARP * lane_bytes
        if block_bytes > self.limit:
            raise DeviceError(
                f"the gradient's tape needs {block_bytes} bytes for one block; the limit is {self.limit}",
                hint="raise ADGEN_TAPE_LIMIT (bytes), use smaller blocks, or do fewer steps in a launch",
            )
        resident = self._resident.get((symbol, threads, dynamic))
        if resident is None:
            resident = self._resident[symbol, threads, dynamic] = resident_blocks(code, symbol, threads, dynamic)
        blocks = min(prod(launch.grid), resident, self.limit // max(block_bytes, 1))
        size = blocks * block_bytes
        address = self._reserve("tape", size + _COUNTER_BYTES, stream)
        if blocks < prod(launch.grid):  # they take the next one by a number behind the tape
            zeroed = api().cuMemsetD8Async(address + size, 0, _COUNTER_BYTES, stream)
            done(zeroed, "GPU memory cannot be set")
        if size and wants_no_numbers_kept():
            filled = api().cuMemsetD8Async(address, NO_NUMBER, size, stream)
            done(filled, "GPU memory cannot be set")
        return DeviceTape(address, lane_bytes, blocks)

    @contextmanager
    def putting_back(self, arrays: Iterable[tuple[int, int]], stream: int) -> Iterator[None]:
        """What is launched meanwhile may write to the arrays (address, bytes): they are as before at the end."""
        places, size = [], 0
        for address, count in arrays:
            places.append((address, size, count))
            size += -(-count // _ALIGNMENT) * _ALIGNMENT
        home = self._reserve("arrays", size, stream)
        for address, place, count in places:
            done(api().cuMemcpyDtoDAsync(home + place, address, count, stream), "an array cannot be copied")
        yield
        for address, place, count in places:
            done(api().cuMemcpyDtoDAsync(address, home + place, count, stream), "an array cannot be put back")

    def _reserve(self, purpose: str, count: int, stream: int) -> int:
        address, size = self._memory.get((purpose, stream), (0, 0))
        if count <= size:
            return address
        if size and not is_capturing(stream):  # a graph goes on using what it was recorded with
            synchronize(stream)
            done(api().cuMemFree(address), "the tape cannot be given back")
            del self._memory[purpose, stream]
        hint = "lower ADGEN_TAPE_LIMIT (bytes), so that fewer blocks run at once"
        fresh = int(done(api().cuMemAlloc(count), f"no {count} bytes of GPU memory for the tape can be had", hint))
        self._memory[purpose, stream] = (fresh, count)
        return fresh


def resident_blocks(code: LoadedCode, symbol: str, threads: int, dynamic: int) -> int:
    """How many blocks of a kernel the GPU runs at once."""
    driver = api()
    kernel = code.kernel(symbol, threads)
    kernel.allow_dynamic(dynamic)  # else none are said to run with more than blocks have without being asked
    function = done(driver.cuKernelGetFunction(kernel.handle), f"{symbol} cannot be looked at")
    count = done(
        driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, threads, dynamic), f"{symbol} cannot be looked at"
    )
    return max(1, int(count)) * attribute_of(code.device, "MULTIPROCESSOR_COUNT")
