"""Scalars and structs by value as bytes, converted by the declared type and checked."""

from __future__ import annotations

import ctypes
import re
import struct
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import DataType
from enzyme_driver.runtime.call.layouts import ctypes_layout, declared_layout, numpy_dtype, numpy_layout, same_layout
from enzyme_driver.runtime.call.slots import Slot

_FORMATS = {"float16": "<e", "float32": "<f", "float64": "<d"}
_SHOWN = 8  # members in a message: enough to compare
_COMPLEX = re.compile(r"complex(<|$)")
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


def scalar_bytes(value: object, slot: Slot) -> bytes:
    """The bytes of a number of the declared type. Raises ArgumentError where it is no number or does not fit."""
    number = _number(value, slot)
    dtype = slot.parameter.dtype
    if dtype.kind == "float":
        return _float_bytes(number, dtype, slot)
    return _integer_bytes(number, dtype, slot)


def is_number(value: object) -> bool:
    """Whether the value is a number or an array of no dimension that holds one."""
    return isinstance(value, _NUMBERS) or (getattr(value, "shape", None) == () and hasattr(value, "item"))


def _number(value: object, slot: Slot) -> int | float:
    if isinstance(value, (bool, int, float)):
        return value
    if is_number(value):
        item = value.item()  # type: ignore[attr-defined]
        if isinstance(item, (bool, int, float)):
            return item
    raise slot.wrong(f"{type(value).__name__} {_short(value)}", f"give a number that {slot.parameter.dtype} holds")


def _float_bytes(number: float, dtype: DataType, slot: Slot) -> bytes:
    try:
        if dtype.name in _FORMATS:
            return struct.pack(_FORMATS[dtype.name], float(number))
        converted = np.array(float(number)).astype(numpy_dtype(dtype))
        return converted.tobytes()
    except OverflowError:
        raise slot.wrong(_short(number), f"the number is too large for {dtype}") from None


def _integer_bytes(number: float, dtype: DataType, slot: Slot) -> bytes:
    if isinstance(number, float) and not number.is_integer():
        raise slot.wrong(f"the number {number}", "round it yourself: int(x)")
    whole = int(number)
    signed = dtype.kind == "int"
    bits = 1 if dtype.kind == "bool" else 8 * dtype.size
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if not low <= whole <= high:
        raise slot.wrong(_short(number), f"{dtype} holds {low} to {high}")
    return whole.to_bytes(dtype.size, "little", signed=signed)


def struct_bytes(value: object, slot: Slot) -> bytes:
    """The bytes of a struct given as a NumPy structured scalar or one-element array, or as a ctypes.Structure.

    A struct without members, such as a functor, is given as None, a complex number also as Python's or NumPy's.
    """
    declared = declared_layout(slot.parameter.dtype)
    if value is None and not slot.parameter.dtype.fields:
        return bytes(slot.parameter.dtype.size)
    if isinstance(value, (complex, np.complexfloating)) and _COMPLEX.match(slot.parameter.dtype.name):
        value = np.array(value, f"c{slot.parameter.dtype.size}")
    if isinstance(value, ctypes.Structure):
        given = _layout_of_ctypes(value, slot)
        data = bytes(value)
    elif isinstance(value, (np.void, np.ndarray)) and value.size == 1:
        given, data = numpy_layout(value.dtype), value.tobytes()
    else:
        raise slot.wrong(type(value).__name__, _struct_hint(slot))
    if not same_layout(declared, given):
        raise slot.wrong(f"a {type(value).__name__} of another layout ({_spelled(given)})", _struct_hint(slot))
    return data


def _layout_of_ctypes(value: ctypes.Structure, slot: Slot) -> Any:  # noqa: ANN401
    try:
        return ctypes_layout(type(value))
    except TypeError as error:
        raise slot.wrong(f"{type(value).__name__}, whose layout is not clear ({error})", _struct_hint(slot)) from None


def _struct_hint(slot: Slot) -> str:
    if not slot.parameter.dtype.fields:
        return f"{slot.parameter.dtype} has no members: give None"
    names = ", ".join(field.name for field in slot.parameter.dtype.fields[:_SHOWN])
    more = ", ..." if len(slot.parameter.dtype.fields) > _SHOWN else ""
    layout = _spelled(declared_layout(slot.parameter.dtype))
    return (
        f"give a dict of its members ({names}{more}), or a NumPy structured scalar or a ctypes.Structure of this "
        f"layout: {layout}"
    )


def _spelled(layout: Any) -> str:  # noqa: ANN401
    size, leaves = layout
    members = ", ".join(f"{leaf.kind}{leaf.size} at {leaf.offset}" for leaf in leaves[:_SHOWN])
    return f"{members}{', ...' if len(leaves) > _SHOWN else ''}; {size} bytes"


def pointers_in(data: bytes, dtype: DataType) -> dict[int, int]:
    """The addresses that a struct holds, by their offsets."""
    return {
        leaf.offset: int.from_bytes(data[leaf.offset : leaf.offset + leaf.size], "little")
        for leaf in declared_layout(dtype)[1]
        if leaf.kind == "p"
    }


def returned(data: bytes, dtype: DataType) -> float | int | bool:
    """The Python number that a function returned."""
    value = np.frombuffer(data, numpy_dtype(dtype))[0].item()
    if not isinstance(value, (bool, int, float)):
        raise ArgumentError(f"values of type {dtype} cannot be returned", hint="write them through a pointer instead")
    return value


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."  # noqa: PLR2004  (enough to recognise it)
