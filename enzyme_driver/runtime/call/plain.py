"""Calls whose arguments need no looking at: numbers, and arrays that are exactly what the signature says.

Converting any argument that a call may have takes microseconds each. Most calls pass C-contiguous arrays of one library
and numbers; these are recognised here and packed at once. Whatever is not as plain as that, and all that is an error,
is left to `Arguments`: nothing is refused here.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
Span = tuple[int, int]
"""Where an array begins, and where it ends."""

_ALIGNMENT = 256
_LARGEST_TOGETHER = 1 << 20  # bytes; above that a call of the driver costs less than what it does
_NUMBERS = frozenset({int, float, np.float32, np.float64, np.int32, np.int64})
_BOOLS = frozenset({bool})
_from_buffer, _address_of = ctypes.c_char.from_buffer, ctypes.addressof


class Arrays:
    """What is asked of the arrays of one library."""

    kind: Any
    """The type of the arrays, of which nothing is derived."""

    @staticmethod
    def dtype(name: str) -> Any:  # noqa: ANN401
        """The only object that stands for this type of numbers."""
        return np.dtype(name)

    def address(self, array: Any, *, writable: bool) -> int:  # noqa: ANN401
        """0 for an array that is not C-contiguous, may not be written to, or is empty."""
        raise NotImplementedError

    def address_of_new(self, array: Any) -> int:  # noqa: ANN401
        """Of one that was made here; 0 for an empty one."""
        return self.address(array, writable=True)

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

    def address(self, array: Any, *, writable: bool) -> int:  # noqa: ANN401
        try:
            return _address_of(_from_buffer(array))  # several times as quick as its __array_interface__
        except (TypeError, ValueError, BufferError):
            plain = array.flags.c_contiguous and array.size and not (writable and not array.flags.writeable)
            return int(array.__array_interface__["data"][0]) if plain else 0

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

    def address(self, array: Any, *, writable: bool) -> int:  # noqa: ANN401
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

    def address_of_new(self, array: Any) -> int:  # noqa: ANN401
        return int(array.data.ptr)

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

    def address(self, array: Any, *, writable: bool) -> int:  # noqa: ANN401
        del writable
        odd = not array.is_cuda or array.requires_grad or array.is_neg() or array.layout is not self._torch.strided
        return 0 if odd or not array.is_contiguous() else int(array.data_ptr())

    def zeros_like(self, arrays: Sequence[Any]) -> list[Any]:
        made = [self.empty_like(array) for array in arrays]
        if made:
            self._torch._foreach_zero_(made)  # in one launch
        return made

    def address_of_new(self, array: Any) -> int:  # noqa: ANN401
        return int(array.data_ptr())

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


@dataclass(slots=True)
class PlainCall:
    """The arguments of one call: the address of a table of their addresses in `memory`, and how many there are.

    `shadows` are those of a gradient: the place among its arguments (None where the primal writes to the array), the
    bytes of a number (0 where threads get no copies of it), its address and its bytes.
    """

    table: int
    count: int
    memory: object
    arrays: Arrays
    device: int
    shadows: Sequence[tuple[int | None, int, int, int]] = ()


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
        self._libraries: dict[type, tuple[Arrays, tuple[Any, ...]] | None] = {}
        self._numbers = "".join(_packed(place) for place in self.places)
        self._forms: dict[tuple[int, str], tuple[Callable[..., None], type, tuple[int, ...]]] = {}

    @cached_property
    def shadows(self) -> tuple[tuple[int | None, int], ...]:
        """As `accumulated` describes them: the place among the gradient's arguments, and the bytes of a number."""
        first, each = len(self.places), enumerate(self.active)
        found = [(first + number, self.signature.parameters[place]) for number, place in each]
        return tuple(
            (None if written(parameter) else argument, parameter.dtype.size if parameter.dtype.size in {4, 8} else 0)
            for argument, parameter in found
        )

    def library(self, arguments: Sequence[Any]) -> tuple[Arrays, tuple[Any, ...]] | None:
        """The library of the arrays, and the dtype of each parameter there."""
        if self.first < 0 or len(arguments) != len(self.places):
            return None
        kind = type(arguments[self.first])
        if kind not in self._libraries:
            arrays = _arrays_of(self.target, kind)
            known = arrays and tuple([arrays.dtype(place.name_of_dtype) for place in self.places])
            there = known and all(each is not None for each in known)  # None equals NumPy's float64
            self._libraries[kind] = (arrays, known) if arrays and known and there else None
        return self._libraries[kind]

    def values(
        self, arrays: Arrays, dtypes: Sequence[Any], arguments: Sequence[Any], *, copied: bool
    ) -> tuple[list[Any], list[Span]] | None:
        """Addresses and numbers, and where the arrays lie; None where an argument is not plain, or arrays overlap.

        `copied`: arrays that are written are going to be copied, so that read-only ones will do.
        """
        found, spans, kind = [], [], arrays.kind
        for place, dtype, argument in zip(self.places, dtypes, arguments, strict=True):
            if not place.is_array:
                if type(argument) not in place.types:
                    return None
                found.append(argument)
                continue
            if type(argument) is not kind or argument.dtype is not dtype:
                return None
            address, nbytes = arrays.address(argument, writable=place.writable and not copied), argument.nbytes
            if not address or address & place.mask or (place.one and nbytes != place.size):
                return None
            found.append(address)
            spans.append((address, address + nbytes))
        return (found, spans) if _apart(spans) else None

    def shadow_addresses(
        self,
        arrays: Arrays,
        dtypes: Sequence[Any],
        arguments: Sequence[Any],
        shadows: Mapping[str, Any],
        spans: Sequence[Span],
    ) -> list[int] | None:
        """Of shadows that are given; None where one is not plain, or lies in `spans` or another one."""
        found, spans, kind = [], [*spans], arrays.kind
        if len(shadows) != len(self.active):
            return None
        for number in self.active:
            place = self.places[number]
            shadow: Any = shadows.get(place.name)
            if type(shadow) is not kind or shadow.dtype is not dtypes[number]:
                return None
            if shadow.shape != arguments[number].shape if place.is_array else shadow.nbytes != place.size:
                return None
            address = arrays.address(shadow, writable=True)
            if not address or address & place.mask:
                return None
            found.append(address)
            spans.append((address, address + shadow.nbytes))
        return found if _apart(spans) else None

    def packed(self, values: Sequence[Any], cotangent: str = "") -> tuple[object, int] | None:
        """Memory with the values and the table of their addresses, and where that is; None for a number that does
        not fit. `cotangent` is the format of the last value, where that is a returned number's."""
        count = len(values)
        form = self._forms.get((count, cotangent))
        if form is None:
            pointers = count - len(self.places) - bool(cotangent)
            text = f"={self._numbers}{pointers}Q{_padded(cotangent)}{count}Q"
            offsets = tuple(_WORD * number for number in range(count))
            form = struct.Struct(text).pack_into, ctypes.c_uint64 * (2 * count), offsets
            self._forms[count, cotangent] = form
        pack, room, offsets = form
        memory = room()
        start = _address_of(memory)
        try:
            pack(memory, 0, *values, *[start + offset for offset in offsets])
        except (struct.error, OverflowError):
            return None
        return memory, start + _WORD * count


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


def _apart(spans: Sequence[Span]) -> bool:
    last = 0
    for start, end in sorted(spans):
        if start < last:
            return False
        last = end
    return True
