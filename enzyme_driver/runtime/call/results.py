"""Structs that C++ functions return: they are written to memory that is made for each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import DataType, Parameter
from enzyme_driver.runtime.call.layouts import numpy_dtype
from enzyme_driver.runtime.call.slots import Slot
from enzyme_driver.runtime.call.values import struct_bytes


def memory_for(result: Parameter) -> np.ndarray[Any, Any]:
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
    if isinstance(each, np.ndarray) and each.shape == ((1,) if directions is None else (directions, 1)):
        return given
    if directions is None:
        given[name] = cotangent_of(slot, each)
    elif isinstance(each, (Sequence, np.ndarray)) and len(each) == directions:
        given[name] = np.stack([cotangent_of(slot, one) for one in each])
    else:
        raise slot.wrong(type(each).__name__, f"give {directions} of them, one a direction")
    return given


def cotangent_of(slot: Slot, value: object) -> np.ndarray[Any, Any]:
    """An array of one struct: of a dict of members (others are zero), a tuple of all, or a struct."""
    dtype = slot.parameter.dtype
    made = np.zeros(1, numpy_dtype(dtype))
    if isinstance(value, Mapping):
        _fill(made[0], value, dtype, slot)
    elif isinstance(value, tuple):
        try:
            made[0] = value
        except (TypeError, ValueError) as error:
            raise slot.wrong(f"a tuple, of which NumPy says: {error}", _hint(dtype)) from None
    else:
        whole = replace(slot, parameter=replace(slot.parameter, form="struct"))
        made[:] = np.frombuffer(struct_bytes(value, whole), made.dtype)
    return made


def _fill(made: Any, members: Mapping[object, object], dtype: DataType, slot: Slot) -> None:  # noqa: ANN401
    known = {field.name: field for field in dtype.fields}
    for name, value in members.items():
        if name not in known:
            near = get_close_matches(str(name), known)
            hint = f"did you mean {' or '.join(near)}?" if near else _hint(dtype)
            raise ArgumentError(f"{slot.label}: {dtype} has no member {name!r}", hint=hint)
        if isinstance(value, Mapping):
            _fill(made[name], value, known[name].type, slot)
            continue
        try:
            made[name] = value
        except (TypeError, ValueError) as error:
            raise slot.wrong(f"{name}={value!r} ({error})", _hint(dtype)) from None


def _hint(dtype: DataType) -> str:
    return f"give a dict of its members: {', '.join(field.name for field in dtype.fields)}"


def value_returned(result: Parameter, bound: Sequence[object]) -> object:
    """The struct that a call has written: a NumPy record, a number where it is a complex one."""
    array: Any = bound[-1]
    if result.dtype.name.startswith("complex"):
        return array.view(f"c{result.dtype.size}")[0]
    return array[0]
