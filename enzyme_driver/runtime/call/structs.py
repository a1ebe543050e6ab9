"""Structs of numbers that are given as dicts of their members: behind a const reference, and as derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import DataType, Parameter
from enzyme_driver.runtime.call.layouts import numpy_dtype
from enzyme_driver.runtime.call.slots import Slot
from enzyme_driver.runtime.call.values import struct_bytes

_LETTERS = {"int": "i", "uint": "u"}


def takes_members(parameter: Parameter) -> bool:
    """Whether a dict will do: of what is not const, nobody would see the changes."""
    behind = parameter.is_pointer and parameter.reference and parameter.const
    return behind and parameter.dtype.kind == "struct" and not parameter.dtype.has_pointers


def structured(dtype: DataType) -> np.dtype[Any]:
    """NumPy's type of the same layout, for a struct without pointers."""
    described: Any = {
        "names": [field.name for field in dtype.fields],
        "formats": [(_number(field.type), (field.count,) if field.count > 1 else ()) for field in dtype.fields],
        "offsets": [field.offset for field in dtype.fields],
        "itemsize": dtype.size,
    }
    made: np.dtype[Any] = np.dtype(described)
    return made


def _number(dtype: DataType) -> np.dtype[Any]:
    if dtype.kind == "struct":
        return structured(dtype)
    letter = _LETTERS.get(dtype.kind)
    return np.dtype(f"{letter}{dtype.size}" if letter else dtype.name)  # an enumeration has a name of its own


def struct_array(slot: Slot, value: object) -> np.ndarray[Any, Any]:
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


def struct_rows(slot: Slot, values: Iterable[object]) -> np.ndarray[Any, Any]:
    """Several of them in one array [values, 1]; numpy.stack would leave out what lies between members."""
    rows = [struct_array(slot, value) for value in values]
    made = np.zeros((len(rows), 1), numpy_dtype(slot.parameter.dtype))
    for row, filled in zip(made, rows, strict=True):
        row[:] = filled
    return made


def _fill(made: Any, members: Mapping[object, Any], dtype: DataType, slot: Slot) -> None:  # noqa: ANN401
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
            made[name] = np.ravel(value) if known[name].count > 1 else value  # a matrix, too
        except (TypeError, ValueError) as error:
            raise slot.wrong(f"{name}={value!r} ({error})", _hint(dtype)) from None


def _hint(dtype: DataType) -> str:
    return f"give a dict of its members: {', '.join(field.name for field in dtype.fields)}"
