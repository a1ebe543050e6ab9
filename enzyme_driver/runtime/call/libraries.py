"""The libraries whose arrays plain calls take: where arrays lie, and new memory for what a gradient returns."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from enzyme_driver.model import Target

_ALIGNMENT = 128  # bytes, a line of the cache
_LARGEST_TOGETHER = 1 << 20  # bytes; above that a call of the driver costs less than what it does
_MOST_LAYOUTS = 64
_from_buffer, _address_of = ctypes.c_char.from_buffer, ctypes.addressof
nbytes_of = attrgetter("nbytes")


@dataclass(frozen=True, slots=True)
class WantedShadow:
    """The shadow of parameter `number`: a copy of its cotangent where it `is_seeded`, else zeros."""

    name: str
    number: int
    is_array: bool
    is_seeded: bool
    is_result: bool
    size: int
    """Bytes of one number."""


@dataclass(frozen=True)
class Wanted:
    """New memory for a gradient: shadows, and copies of the arrays that it writes, with or without their content."""

    shadows: tuple[WantedShadow, ...]
    copies: tuple[tuple[int, bool], ...]
    """The numbers of the parameters, and whether they are read."""

    layouts: dict[tuple[int, ...], Layout] = field(default_factory=dict)
    """What a library has found out, by the sizes of the arrays."""


@dataclass(slots=True)
class Given:
    """The arguments of a call with the types of its arrays, one of these, the bytes of all of them, and the cotangents
    with their addresses. Not frozen, as `ArrayView`.
    """

    arguments: Sequence[Any]
    dtypes: Sequence[Any]
    like: Any
    nbytes: tuple[int, ...]
    seeds: Mapping[str, tuple[Any, int]]


class Fills(NamedTuple):
    """What is to be queued before a launch: addresses and bytes of zeros, and targets, sources and bytes of copies."""

    zeros: Sequence[tuple[int, int]] = ()
    copies: Sequence[tuple[int, int, int]] = ()


NOTHING_TO_FILL = Fills()


@dataclass(slots=True)
class Memory:
    """What a library has made; `keep` has to live until the launch. Not frozen, as `ArrayView`."""

    shadows: list[int]
    sizes: tuple[int, ...]
    copies: list[int]
    results: dict[str, Any]
    fills: Fills
    keep: object


class Arrays:
    """What is asked of the arrays of one library."""

    kind: Any
    """The type of the arrays, of which nothing is derived."""

    @staticmethod
    def dtype(name: str) -> Any:  # noqa: ANN401
        """The only object that stands for this type of numbers."""
        return np.dtype(name)

    def address(self, array: Any, writable: bool) -> int:  # noqa: ANN401
        """0 for an array that is not C-contiguous, may not be written to, or is empty."""
        raise NotImplementedError

    def addresses(self, arrays: Sequence[Any], writable: Sequence[bool]) -> list[int]:
        return list(map(self.address, arrays, writable))

    def memory(self, wanted: Wanted, given: Given) -> Memory:
        """New arrays and memory like what is given."""
        raise NotImplementedError

    def device(self, arrays: Iterable[Any]) -> int | None:
        """The device that these lie on, None where there are several."""
        raise NotImplementedError

    def stream(self, device: int) -> int:
        """The handle of the current stream."""
        raise NotImplementedError


class NumpyArrays(Arrays):
    kind = np.ndarray

    def address(self, array: Any, writable: bool) -> int:  # noqa: ANN401
        try:
            return _address_of(_from_buffer(array))  # several times as quick as its __array_interface__
        except (TypeError, ValueError, BufferError):
            plain = array.flags.c_contiguous and array.size and not (writable and not array.flags.writeable)
            return int(array.__array_interface__["data"][0]) if plain else 0

    def addresses(self, arrays: Sequence[Any], writable: Sequence[bool]) -> list[int]:
        try:
            return [_address_of(_from_buffer(array)) for array in arrays]
        except (TypeError, ValueError, BufferError):
            return super().addresses(arrays, writable)

    def memory(self, wanted: Wanted, given: Given) -> Memory:
        shadows, results, arguments, dtypes = [], {}, given.arguments, given.dtypes
        for row in wanted.shadows:
            if row.is_seeded:
                array = given.seeds[row.name][0].copy()
            else:
                array = np.zeros(arguments[row.number].shape if row.is_array else (), dtypes[row.number])
            shadows.append(array)
            if row.is_result:
                results[row.name] = array
        copies = [
            arguments[number].copy() if is_read else np.empty(arguments[number].shape, dtypes[number])
            for number, is_read in wanted.copies
        ]
        at = self.addresses([*shadows, *copies], [True] * (len(shadows) + len(copies)))
        sizes, count = tuple(map(nbytes_of, shadows)), len(shadows)
        return Memory(at[:count], sizes, at[count:], results, NOTHING_TO_FILL, (shadows, copies))

    def device(self, arrays: Iterable[Any]) -> int | None:
        del arrays
        return -1

    def stream(self, device: int) -> int:
        return 0 * device


@dataclass(frozen=True, slots=True)
class Result:
    """A new array like argument `number` (of no dimension where that is none), a part of a block at an offset."""

    name: str
    number: int
    is_array: bool
    part: int
    offset: int


@dataclass(frozen=True, slots=True)
class Block:
    """Memory that is allocated at once: how much, and its parts with what lies between them, in their order, all in
    numbers of `dtype`, in bytes where that is None; and the parts that are arrays.
    """

    count: int
    parts: tuple[int, ...]
    results: tuple[Result, ...]
    dtype: Any


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each shadow and each copy lies, by block and offset, and what it is filled with.

    Small ones lie in one block, in which all zeros stand together; large ones have a block each, so that nobody who
    keeps one of them keeps all. `seeded` and `read` say which cotangent, by its name, and which argument is copied
    there, `zeros` what is set to zero, each with its bytes.
    """

    blocks: tuple[Block, ...]
    shadows: tuple[tuple[int, int], ...]
    sizes: tuple[int, ...]
    copies: tuple[tuple[int, int], ...]
    seeded: tuple[tuple[int, int, str, int], ...]
    read: tuple[tuple[int, int, int, int], ...]
    zeros: tuple[tuple[int, int, int], ...]


class DeviceArrays(Arrays):
    """Arrays in the memory of GPUs."""

    def memory(self, wanted: Wanted, given: Given) -> Memory:
        layout = wanted.layouts.get(given.nbytes)
        if layout is None:
            layout = layout_of(wanted, given)
            if len(wanted.layouts) < _MOST_LAYOUTS:
                wanted.layouts[given.nbytes] = layout
        results: dict[str, Any] = {}
        made = [self._block(block, given, results) for block in layout.blocks]
        starts = [start for start, _ in made]
        shadows = [starts[block] + offset for block, offset in layout.shadows]
        copies = [starts[block] + offset for block, offset in layout.copies]
        moves = [(starts[block] + offset, given.seeds[name][1], size) for block, offset, name, size in layout.seeded]
        for block, offset, number, size in layout.read:
            moves.append((starts[block] + offset, self.address(given.arguments[number], False), size))
        zeros = [(starts[block] + offset, size) for block, offset, size in layout.zeros]
        return Memory(shadows, layout.sizes, copies, results, Fills(zeros, moves), made)

    def _block(self, block: Block, given: Given, results: dict[str, Any]) -> tuple[int, object]:
        """Where a new block begins, and what keeps it; its arrays go to `results`."""
        raise NotImplementedError


def layout_of(wanted: Wanted, given: Given) -> Layout:
    """Shadows and copies behind each other, first those that are zeros."""
    arrays = [given.arguments[row.number].nbytes if row.is_array else row.size for row in wanted.shadows]
    sizes = [*arrays, *(given.arguments[number].nbytes for number, _ in wanted.copies)]
    zeros = [at for at, row in enumerate(wanted.shadows) if not row.is_seeded]
    everything = [*zeros, *(at for at in range(len(sizes)) if at not in zeros)]
    groups = [everything] if sum(sizes) <= _LARGEST_TOGETHER else [[at] for at in everything]
    places, blocks, zeroed = {}, [], []
    for index, group in enumerate(groups):
        ends = _ends(group, sizes)
        places.update({at: (index, end - sizes[at]) for at, end in ends.items()})
        blocks.append(_block_of(group, ends, wanted, given.dtypes, sizes))
        if last := [at for at in group if at in zeros]:
            zeroed.append((index, 0, ends[last[-1]]))
    count = len(wanted.shadows)
    return Layout(
        tuple(blocks),
        tuple(places[at] for at in range(count)),
        tuple(arrays),
        tuple(places[at] for at in range(count, len(sizes))),
        tuple((*places[at], row.name, sizes[at]) for at, row in enumerate(wanted.shadows) if row.is_seeded),
        tuple((*places[at], number, sizes[at]) for at, (number, read) in enumerate(wanted.copies, count) if read),
        tuple(zeroed),
    )


def _ends(group: Sequence[int], sizes: Sequence[int]) -> dict[int, int]:
    """Where each ends in their block."""
    ends, end = {}, 0
    for at in group:
        end = end + -end % _ALIGNMENT + sizes[at]
        ends[at] = end
    return ends


def _block_of(
    group: Sequence[int], ends: Mapping[int, int], wanted: Wanted, dtypes: Sequence[Any], sizes: Sequence[int]
) -> Block:
    parts, results, before = [], [], 0
    for at in group:
        start = ends[at] - sizes[at]
        parts += [start - before] if start > before else []
        if at < len(wanted.shadows) and wanted.shadows[at].is_result:
            row = wanted.shadows[at]
            results.append(Result(row.name, row.number, row.is_array, len(parts), start))
        parts.append(sizes[at])
        before = ends[at]
    dtype = _common(parts, {dtypes[row.number] for row in results})
    unit = 1 if dtype is None else dtype.itemsize
    return Block(before // unit, tuple(size // unit for size in parts), tuple(results), dtype)


def _common(parts: Sequence[int], kinds: set[Any]) -> Any:  # noqa: ANN401
    """The type that a block can be made of, None where it has to be made of bytes."""
    kind = kinds.pop() if len(kinds) == 1 else None
    return None if kind is None or any(size % kind.itemsize for size in parts) else kind


class CupyArrays(DeviceArrays):
    def __init__(self, cupy: Any) -> None:  # noqa: ANN401
        self._array, self._allocated = cupy.ndarray, cupy.cuda.alloc
        self._current: Callable[[], int] = cupy.cuda.runtime.getDevice
        self._stream = cupy.cuda.get_current_stream
        self.kind = cupy.ndarray

    def address(self, array: Any, writable: bool) -> int:  # noqa: ANN401
        del writable
        return int(array.data.ptr) if array.flags.c_contiguous and array.size else 0

    def _block(self, block: Block, given: Given, results: dict[str, Any]) -> tuple[int, object]:
        start = self._allocated(block.count if block.dtype is None else block.count * block.dtype.itemsize)
        for row in block.results:
            shape = given.arguments[row.number].shape if row.is_array else ()
            results[row.name] = self._array(shape, given.dtypes[row.number], start + row.offset)
        return int(start.ptr), start

    def device(self, arrays: Iterable[Any]) -> int | None:
        found = {array.data.device_id for array in arrays}
        return found.pop() if len(found) == 1 and self._current() in found else None

    def stream(self, device: int) -> int:
        return int(self._stream(device).ptr)


class TorchArrays(DeviceArrays):
    def __init__(self, torch: Any) -> None:  # noqa: ANN401
        self._bytes, self._strided = torch.uint8, torch.strided
        self._parts = torch.unsafe_split_with_sizes  # whose parts are no views: each counts its own changes
        self._stream: Callable[[int], int] = torch._C._cuda_getCurrentRawStream  # noqa: SLF001  (what Triton takes)
        self.kind = torch.Tensor

    @staticmethod
    def dtype(name: str) -> Any:  # noqa: ANN401
        return getattr(sys.modules["torch"], name, None)

    def address(self, array: Any, writable: bool) -> int:  # noqa: ANN401
        del writable
        odd = not array.is_cuda or array.requires_grad or array.is_neg() or array.layout is not self._strided
        return 0 if odd or not array.is_contiguous() else int(array.data_ptr())

    def _block(self, block: Block, given: Given, results: dict[str, Any]) -> tuple[int, object]:
        whole = given.like.new_empty((block.count,), dtype=block.dtype or self._bytes)
        parts = (whole,) if len(block.parts) == 1 else self._parts(whole, block.parts)
        for row in block.results:
            part, shape = parts[row.part], given.arguments[row.number].shape if row.is_array else ()
            if block.dtype is None:
                part = part.view(given.dtypes[row.number])
            results[row.name] = part if len(shape) == 1 else part.view(shape)
        return int(whole.data_ptr()), whole

    def device(self, arrays: Iterable[Any]) -> int | None:
        found = {array.get_device() for array in arrays}
        return found.pop() if len(found) == 1 else None

    def stream(self, device: int) -> int:
        return int(self._stream(device))


def arrays_of(target: Target, kind: type) -> Arrays | None:
    """Of the library that an array of this type comes from, if it is one of those above."""
    if target == "openmp":
        return NumpyArrays() if kind is np.ndarray else None
    cupy, torch = sys.modules.get("cupy"), sys.modules.get("torch")
    if cupy is not None and kind is cupy.ndarray:
        return CupyArrays(cupy)
    if torch is not None and kind is torch.Tensor:
        return TorchArrays(torch)
    return None
