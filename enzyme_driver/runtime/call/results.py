"""Structs and vectors that C++ functions return: they are written to memory that is made for each call."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import DataType, Parameter
from enzyme_driver.runtime.call.layouts import numpy_dtype
from enzyme_driver.runtime.call.packing import pointer_bytes
from enzyme_driver.runtime.call.slots import Slot
from enzyme_driver.runtime.call.structs import struct_array, struct_rows


class _Taken(ctypes.Structure):
    """`Taken` of host_runtime/vectors.cpp."""

    _fields_: ClassVar = [("elements", ctypes.c_void_p), ("bytes", ctypes.c_uint64)]


class Unsized:
    """Stands for a vector that is returned where nobody knows its size before."""

    def __init__(self) -> None:
        self._taken = _Taken()

    @property
    def data(self) -> bytes:
        """The vector that the function gets."""
        return pointer_bytes(0) + pointer_bytes(ctypes.addressof(self._taken)) + pointer_bytes(0)

    def array(self, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """The elements that the last call has left here, which are the array's from now on."""
        address, count = self._taken.elements, self._taken.bytes
        buffer = (ctypes.c_char * count).from_address(address)
        weakref.finalize(buffer, _free(), ctypes.c_void_p(address)).atexit = False
        return np.frombuffer(buffer, dtype) if count else np.empty(0, dtype)


@cache
def _free() -> Any:  # noqa: ANN401
    return ctypes.CDLL(None)["free"]


def memory_for(result: Parameter) -> np.ndarray[Any, Any] | Unsized:
    """For what is returned: an array of one struct; of a vector the size may be anything."""
    if result.dtype.elements:
        return Unsized()
    made: np.ndarray[Any, Any] = np.zeros(1, numpy_dtype(result.dtype))
    return made


def with_cotangent(
    slot: Slot, cotangent: object, cotangents: Mapping[str, object] | None, directions: int | None = None
) -> Mapping[str, object]:
    """The cotangents, with that of the struct that is returned as an array.

    Raises ArgumentError where it is a number: which member would it be of?
    """
    given, name = dict(cotangents or {}), slot.parameter.name
    unsaid = isinstance(cotangent, (int, float)) and cotangent == 1.0
    if name in given and not unsaid:
        raise ArgumentError(f"the {slot.label} is given twice", hint=f"leave `cotangent` or cotangents[{name!r}] out")
    if name not in given:
        if unsaid and given:
            return given
        given[name] = cotangent
    each = given[name]
    if slot.parameter.dtype.elements:
        given[name] = _elements(slot, each)
        return given
    if isinstance(each, np.ndarray) and each.shape == ((1,) if directions is None else (directions, 1)):
        return given
    if directions is None:
        given[name] = struct_array(slot, each)
    elif isinstance(each, (Sequence, np.ndarray)) and len(each) == directions:
        given[name] = struct_rows(slot, each)
    else:
        raise slot.wrong(type(each).__name__, f"give {directions} of them, one a direction")
    return given


def _elements(slot: Slot, cotangent: object) -> object:
    """That of a vector: an array, or a sequence of numbers."""
    held = slot.parameter.dtype.elements
    if not held or not isinstance(cotangent, (list, tuple, int, float)):
        return cotangent
    if not isinstance(cotangent, (list, tuple)):
        raise ArgumentError(
            f"{slot.label}: expected an array of {held}, one for each element, got {type(cotangent).__name__}",
            hint="give cotangent=, an array of the size that the function makes",
        )
    return np.array(cotangent, f"c{held.size}" if held.name.startswith("complex") else numpy_dtype(held))


def room_for(result: Parameter, cotangent: Any, directions: int | None) -> np.ndarray[Any, Any]:  # noqa: ANN401
    """An array of as many elements as the cotangent has."""
    array = np.asarray(cotangent)
    held: Any = result.dtype.elements
    dtype = array.dtype if array.dtype.itemsize == held.size else numpy_dtype(held)
    return np.zeros(array.shape if directions is None else array.shape[1:], dtype)


def value_returned(result: Parameter, bound: Sequence[object]) -> object:
    """The struct that a call has written: a NumPy record, a number where it is a complex one."""
    array: Any = bound[-1]
    if held := result.dtype.elements:
        return _vector(held, array)
    if result.dtype.name.startswith("complex"):
        return array.view(f"c{result.dtype.size}")[0]
    return array[0]


def _vector(held: DataType, made: Any) -> Any:  # noqa: ANN401
    array = made.array(numpy_dtype(held)) if isinstance(made, Unsized) else made
    if held.name.startswith("complex") and array.dtype.kind != "c":
        return array.view(f"c{held.size}")
    return array
