"""Calls whose arguments need no looking at: numbers, and arrays that are exactly what the signature says.

Converting any argument that a call may have takes microseconds each. Most calls pass C-contiguous arrays of one library
and numbers; these are recognised here and packed at once. Whatever is not as plain as that, and all that is an error,
is left to `Arguments`: nothing is refused here.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from enzyme_driver.model import Parameter, Signature, Target
from enzyme_driver.runtime.call.layouts import alignment, numpy_dtype
from enzyme_driver.runtime.call.slots import written

_FORMATS = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
    "bool": "?",
}
_WORD = 8
Lying = tuple[list[int], list[int]]
"""Where arrays begin, and their bytes."""

_ALIGNMENT = 256
_LARGEST_TOGETHER = 1 << 20  # bytes; above that a call of the driver costs less than what it does
_NUMBERS = frozenset({int, float, np.float32, np.float64, np.int32, np.int64})
_BOOLS = frozenset({bool})
_dtype_of, nbytes_of = attrgetter("dtype"), attrgetter("nbytes")
_from_buffer, _address_of = ctypes.c_char.from_buffer, ctypes.addressof


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

    def addresses_of_new(self, arrays: Sequence[Any]) -> list[int]:
        """Of those that were made here; 0 for an empty one."""
        return [self.address(array, True) for array in arrays]

    def zeros_like(self, arrays: Sequence[Any]) -> list[Any]:
        """New arrays, of which small ones may share memory."""
        raise NotImplementedError

    def empty_like(self, array: Any) -> Any:  # noqa: ANN401
        """A new array of whatever numbers."""
        raise NotImplementedError

    def copy(self, array: Any) -> Any:  # noqa: ANN401
        raise NotImplementedError

    def number(self, dtype: Any, like: Any) -> Any:  # noqa: ANN401
        """A zero of shape ()."""
        raise NotImplementedError

    def on_one_device(self, arguments: Sequence[Any], arrays: Sequence[int]) -> int | None:
        """The device that the arrays among the arguments lie on, None where there are several."""
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

    def addresses_of_new(self, arrays: Sequence[Any]) -> list[int]:
        try:
            return [_address_of(_from_buffer(array)) for array in arrays]
        except (TypeError, ValueError, BufferError):
            return super().addresses_of_new(arrays)

    def zeros_like(self, arrays: Sequence[Any]) -> list[Any]:
        return [np.zeros(array.shape, array.dtype) for array in arrays]

    def empty_like(self, array: Any) -> Any:  # noqa: ANN401
        return np.empty(array.shape, array.dtype)

    def copy(self, array: Any) -> Any:  # noqa: ANN401
        return array.copy()

    def number(self, dtype: Any, like: Any) -> Any:  # noqa: ANN401
        del like
        return np.zeros((), dtype)

    def on_one_device(self, arguments: Sequence[Any], arrays: Sequence[int]) -> int | None:
        del arguments, arrays
        return -1

    def stream(self, device: int) -> int:
        return 0 * device


class CupyArrays(Arrays):
    def __init__(self, cupy: Any) -> None:  # noqa: ANN401
        self._cupy = cupy
        self.kind = cupy.ndarray

    def address(self, array: Any, writable: bool) -> int:  # noqa: ANN401
        del writable
        return int(array.data.ptr) if array.flags.c_contiguous and array.size else 0

    def zeros_like(self, arrays: Sequence[Any]) -> list[Any]:
        cupy, places, end = self._cupy, [], 0
        for array in arrays:
            places.append(end)
            end += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
        if end > _LARGEST_TOGETHER:
            return [cupy.zeros(array.shape, array.dtype) for array in arrays]
        start = cupy.zeros(end, np.uint8).data  # in one call of the driver
        pairs = zip(arrays, places, strict=True)
        return [cupy.ndarray(array.shape, array.dtype, memptr=start + place) for array, place in pairs]

    def addresses_of_new(self, arrays: Sequence[Any]) -> list[int]:
        return [int(array.data.ptr) for array in arrays]

    def empty_like(self, array: Any) -> Any:  # noqa: ANN401
        return self._cupy.ndarray(array.shape, array.dtype)

    def copy(self, array: Any) -> Any:  # noqa: ANN401
        return array.copy()

    def number(self, dtype: Any, like: Any) -> Any:  # noqa: ANN401
        del like
        return self._cupy.zeros((), dtype)

    def on_one_device(self, arguments: Sequence[Any], arrays: Sequence[int]) -> int | None:
        found = {arguments[number].data.device_id for number in arrays}
        return found.pop() if len(found) == 1 and self._cupy.cuda.runtime.getDevice() in found else None

    def stream(self, device: int) -> int:
        return int(self._cupy.cuda.get_current_stream(device).ptr)


class TorchArrays(Arrays):
    def __init__(self, torch: Any) -> None:  # noqa: ANN401
        self._torch = torch
        self.kind = torch.Tensor

    @staticmethod
    def dtype(name: str) -> Any:  # noqa: ANN401
        return getattr(sys.modules["torch"], name, None)

    def address(self, array: Any, writable: bool) -> int:  # noqa: ANN401
        del writable
        odd = not array.is_cuda or array.requires_grad or array.is_neg() or array.layout is not self._torch.strided
        return 0 if odd or not array.is_contiguous() else int(array.data_ptr())

    def zeros_like(self, arrays: Sequence[Any]) -> list[Any]:
        made = [self.empty_like(array) for array in arrays]
        if made:
            self._torch._foreach_zero_(made)  # in one launch
        return made

    def addresses_of_new(self, arrays: Sequence[Any]) -> list[int]:
        return [int(array.data_ptr()) for array in arrays]

    def empty_like(self, array: Any) -> Any:  # noqa: ANN401
        return self._torch.empty_like(array)

    def copy(self, array: Any) -> Any:  # noqa: ANN401
        return array.clone()

    def number(self, dtype: Any, like: Any) -> Any:  # noqa: ANN401
        return self._torch.zeros((), dtype=dtype, device=like.device)

    def on_one_device(self, arguments: Sequence[Any], arrays: Sequence[int]) -> int | None:
        found = {arguments[number].get_device() for number in arrays}
        return found.pop() if len(found) == 1 else None

    def stream(self, device: int) -> int:
        return int(self._torch._C._cuda_getCurrentRawStream(device))  # noqa: SLF001  (what Triton takes)


def _arrays_of(target: Target, kind: type) -> Arrays | None:
    """Of the library that an array of this type comes from, if it is one of those above."""
    if target == "openmp":
        return NumpyArrays() if kind is np.ndarray else None
    cupy, torch = sys.modules.get("cupy"), sys.modules.get("torch")
    if cupy is not None and kind is cupy.ndarray:
        return CupyArrays(cupy)
    if torch is not None and kind is torch.Tensor:
        return TorchArrays(torch)
    return None


class _Form:
    """How so many values are packed, and memory that was packed so and is free again."""

    __slots__ = ("_free", "_pack", "_room", "_table")

    def __init__(self, text: str, count: int) -> None:
        self._pack = struct.Struct(text).pack_into
        self._room = ctypes.c_uint64 * (2 * count)
        self._table = count
        self._free: list[tuple[Any, int]] = []

    def packed(self, values: Sequence[Any]) -> tuple[Any, int] | None:
        """Memory with the values and, behind them, a table of their addresses, which is told apart; None for a number
        that does not fit.
        """
        try:
            taken = self._free.pop()
        except IndexError:
            taken = self._made()
        try:
            self._pack(taken[0], 0, *values)
        except (struct.error, OverflowError):
            return None
        return taken

    def give_back(self, taken: tuple[Any, int]) -> None:
        """Once the call has returned, which has read it."""
        self._free.append(taken)

    def _made(self) -> tuple[Any, int]:
        memory = self._room()
        start, count = _address_of(memory), self._table
        memory[count:] = [*range(start, start + _WORD * count, _WORD)]
        return memory, start + _WORD * count


@dataclass(slots=True)
class PlainCall:
    """The arguments of one call: the address of a table of their addresses, and how many there are.

    `shadows` are those of a gradient, see `PlainSignature.shadows`, at these `addresses` and of these `sizes` in bytes;
    `kept` is for what is known of them by their sizes.
    """

    table: int
    count: int
    arrays: Arrays
    device: int
    shadows: Sequence[tuple[int | None, int]] = ()
    addresses: Sequence[int] = ()
    sizes: tuple[int, ...] = ()
    kept: dict[tuple[int, ...], Any] | None = None


@dataclass(frozen=True, slots=True)
class PlainLibrary:
    """A library of arrays; the dtype of each parameter there, and the dtypes and types of those that are arrays."""

    arrays: Arrays
    dtypes: tuple[Any, ...]
    of_arrays: list[Any]
    kinds: list[Any]


@dataclass(frozen=True)
class _Place:
    """One parameter; `is_array` and `one` as of its slot."""

    name: str
    is_array: bool
    name_of_dtype: str
    types: frozenset[type]
    writable: bool
    mask: int
    size: int
    one: bool


class PlainSignature:
    """A signature of pointers to numbers, and numbers."""

    def __init__(self, signature: Signature, target: Target) -> None:
        self.signature = signature
        self.target = target
        self.places = tuple(_place(parameter) for parameter in signature)
        self.active = tuple(number for number, parameter in enumerate(signature) if parameter.has_shadow)
        self.read = tuple(p.name for p in signature.shadowed if not p.is_pointer or p.reads)
        self.index = {parameter.name: number for number, parameter in enumerate(signature)}
        self.shadowed = frozenset(p.name for p in signature.shadowed)
        self.written = tuple(number for number, place in enumerate(self.places) if place.writable)
        self.unread = frozenset(number for number in self.written if not signature.parameters[number].reads)
        self.arrays = tuple(number for number, place in enumerate(self.places) if place.is_array)
        self.first = self.arrays[0] if self.arrays else -1
        self._libraries: dict[type, PlainLibrary | None] = {}
        self._numbers = "".join(_packed(place) for place in self.places)
        self._forms: dict[tuple[int, str], _Form] = {}
        each = tuple(self.places[number] for number in self.arrays)
        self._of_numbers = tuple((n, place.types) for n, place in enumerate(self.places) if not place.is_array)
        self._writable, self._copied = tuple(place.writable for place in each), (False,) * len(each)
        self._fitting = tuple((place.mask, place.size if place.one else 0) for place in each)
        self._seeded: dict[tuple[str, ...], tuple[tuple[str, int, bool, bool], ...]] = {}
        self._last: tuple[list[int], list[int]] = [], []
        self._last_with_shadows: tuple[list[int], list[int]] = [], []
        self.described: dict[tuple[int, ...], Any] = {}
        """What a backend knows of shadows, by their sizes."""

    @cached_property
    def shadows(self) -> tuple[tuple[int | None, int], ...]:
        """As `accumulated` describes them: the place among the gradient's arguments, and the bytes of a number."""
        first, each = len(self.places), enumerate(self.active)
        found = [(first + number, self.signature.parameters[place]) for number, place in each]
        return tuple(
            (None if written(parameter) else argument, parameter.dtype.size if parameter.dtype.size in {4, 8} else 0)
            for argument, parameter in found
        )

    def library(self, arguments: Sequence[Any]) -> PlainLibrary | None:
        """That of the arrays."""
        if self.first < 0 or len(arguments) != len(self.places):
            return None
        kind = type(arguments[self.first])
        if kind not in self._libraries:
            arrays = _arrays_of(self.target, kind)
            known = arrays and tuple([arrays.dtype(place.name_of_dtype) for place in self.places])
            there = known and all(each is not None for each in known)  # None equals NumPy's float64
            self._libraries[kind] = self._library(arrays, known) if arrays and known and there else None
        return self._libraries[kind]

    def _library(self, arrays: Arrays, dtypes: tuple[Any, ...]) -> PlainLibrary:
        of_arrays = [dtypes[number] for number in self.arrays]
        return PlainLibrary(arrays, dtypes, of_arrays, [arrays.kind] * len(of_arrays))

    def values(
        self, library: PlainLibrary, arguments: Sequence[Any], *, copied: bool
    ) -> tuple[list[Any], Lying] | None:
        """Addresses and numbers, and where the arrays lie; None where an argument is not plain, or arrays overlap.

        `copied`: arrays that are written are going to be copied, so that read-only ones will do.
        """
        for number, types in self._of_numbers:
            if type(arguments[number]) not in types:
                return None
        given = [arguments[number] for number in self.arrays]
        if list(map(type, given)) != library.kinds or list(map(_dtype_of, given)) != library.of_arrays:
            return None
        addresses = library.arrays.addresses(given, self._copied if copied else self._writable)
        lying = addresses, list(map(nbytes_of, given))
        if lying != self._last:  # calls are often repeated with the same arrays
            if not self._fits(lying) or not _apart(lying):
                return None
            self._last = lying
        found = list(arguments)
        for number, address in zip(self.arrays, addresses, strict=True):
            found[number] = address
        return found, lying

    def _fits(self, lying: Lying) -> bool:
        """Whether the arrays are aligned, not empty, and as large as references are."""
        for (mask, only), address, nbytes in zip(self._fitting, *lying, strict=True):
            if not address or address & mask or (only and nbytes != only):
                return False
        return True

    def shadow_addresses(
        self, library: PlainLibrary, arguments: Sequence[Any], shadows: Mapping[str, Any], lying: Lying
    ) -> list[int] | None:
        """Of shadows that are given; None where one is not plain, or overlaps one of the arguments or another one."""
        given, kind, dtypes = [], library.arrays.kind, library.dtypes
        if len(shadows) != len(self.active):
            return None
        for number in self.active:
            place = self.places[number]
            shadow: Any = shadows.get(place.name)
            if type(shadow) is not kind or shadow.dtype is not dtypes[number]:
                return None
            if shadow.shape != arguments[number].shape if place.is_array else shadow.nbytes != place.size:
                return None
            given.append(shadow)
        found = library.arrays.addresses(given, (True,) * len(given))
        together = lying[0] + found, lying[1] + list(map(nbytes_of, given))
        if together != self._last_with_shadows:
            aligned = not any(address & self.places[at].mask for address, at in zip(found, self.active, strict=True))
            if 0 in found or not aligned or not _apart(together):
                return None
            self._last_with_shadows = together
        return found

    def seeded(self, names: tuple[str, ...]) -> tuple[tuple[str, int, bool, bool], ...] | None:
        """Of each parameter that has a shadow: its name and place, whether there is a cotangent, where these are given,
        and whether it is an array; None where one of the names has no cotangent.
        """
        rows = self._seeded.get(names)
        if rows is None:
            numbers = [self.index.get(name, -1) for name in names]
            if not all(number in self.active and number in self.written for number in numbers):
                return None
            places = [(self.places[number], number) for number in self.active]
            rows = tuple((place.name, number, place.name in names, place.is_array) for place, number in places)
            self._seeded[names] = rows
        return rows

    def form(self, count: int, cotangent: str = "") -> _Form:
        """Of so many values. `cotangent` is the format of the last one, where that is a returned number's."""
        form = self._forms.get((count, cotangent))
        if form is None:
            pointers = count - len(self.places) - bool(cotangent)
            form = self._forms[count, cotangent] = _Form(f"={self._numbers}{pointers}Q{_padded(cotangent)}", count)
        return form


def plain_signature(signature: Signature, target: Target) -> PlainSignature | None:
    """None where it has anything else."""
    if signature.variables or signature.chooses or signature.unordered or not all(map(_is_plain, signature)):
        return None
    return PlainSignature(signature, target)


def _is_plain(parameter: Parameter) -> bool:
    known = parameter.dtype.name in _FORMATS and parameter.form in {"pointer", "scalar"} and not parameter.by_address
    return known and (parameter.is_pointer or not parameter.reference)


def _place(parameter: Parameter) -> _Place:
    dtype = parameter.dtype
    return _Place(
        parameter.name,
        parameter.is_pointer,
        str(numpy_dtype(dtype)),
        _BOOLS if dtype.kind == "bool" else _NUMBERS,
        written(parameter),
        alignment(dtype) - 1,
        dtype.size,
        parameter.reference,
    )


def _packed(place: _Place) -> str:
    return "Q" if place.is_array else _padded(_FORMATS[place.name_of_dtype])


def _padded(number: str) -> str:
    """The format of a number in a word."""
    return f"{number}{_WORD - struct.calcsize('=' + number)}x" if number else ""


def number_format(name: str) -> str:
    """How a returned number's cotangent is packed; empty for types that are not plain."""
    return _FORMATS.get(name, "")


def _apart(lying: Lying) -> bool:
    last = 0
    for start, nbytes in sorted(zip(*lying, strict=True)):
        if start < last:
            return False
        last = start + nbytes
    return True
