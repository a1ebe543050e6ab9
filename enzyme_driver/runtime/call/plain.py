"""Calls whose arguments need no looking at: numbers, and arrays that are exactly what the signature says.

Converting any argument that a call may have takes microseconds each. Most calls pass C-contiguous arrays of one library
and numbers; these are recognised here and packed at once. Whatever is not as plain as that, and all that is an error,
is left to `Arguments`: nothing is refused here.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from enzyme_driver.model import Parameter, Signature, Target
from enzyme_driver.runtime.call.layouts import alignment, numpy_dtype
from enzyme_driver.runtime.call.libraries import (
    NOTHING_TO_FILL,
    Arrays,
    Fills,
    Wanted,
    WantedShadow,
    arrays_of,
    nbytes_of,
)
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

_NUMBERS = frozenset({int, float, np.float32, np.float64, np.int32, np.int64})
_BOOLS = frozenset({bool})
_dtype_of = attrgetter("dtype")
_address_of = ctypes.addressof


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
    `kept` is for what is known of them by their sizes, and `fills` are what new memory has to be filled with before.
    """

    table: int
    count: int
    arrays: Arrays
    device: int
    shadows: Sequence[tuple[int | None, int]] = ()
    addresses: Sequence[int] = ()
    sizes: tuple[int, ...] = ()
    kept: dict[tuple[int, ...], Any] | None = None
    fills: Fills = NOTHING_TO_FILL


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
        self._wanted: dict[tuple[type, tuple[str, ...], tuple[str, ...]], Wanted] = {}
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
            arrays = arrays_of(self.target, kind)
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

    def wanted(self, kind: type, seeds: tuple[str, ...], names: tuple[str, ...]) -> Wanted | None:
        """What has to be made for the gradients of these names where cotangents of those are given, as arrays of this
        kind; None where one of them has no cotangent.
        """
        found = self._wanted.get((kind, seeds, names))
        if found is None:
            numbers = [self.index.get(name, -1) for name in seeds]
            if not all(number in self.active and number in self.written for number in numbers):
                return None
            places = [(number, self.places[number]) for number in self.active]
            rows = tuple(
                WantedShadow(each.name, number, each.is_array, each.name in seeds, each.name in names, each.size)
                for number, each in places
            )
            found = Wanted(rows, tuple((number, number not in self.unread) for number in self.written))
            self._wanted[kind, seeds, names] = found
        return found

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
