"""Structs of numbers behind a const reference, given as dicts of their members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import DataType, Parameter

_LETTERS = {"int": "i", "uint": "u"}


def takes_members(parameter: Parameter) -> bool:
    """Whether a dict will do: of what is not const, nobody would see the changes."""
    behind = parameter.is_pointer and parameter.reference and parameter.const
    return behind and parameter.dtype.kind == "struct" and not parameter.dtype.has_pointers


def as_array(parameter: Parameter, value: Mapping[str, object]) -> np.ndarray:
    """The array of one struct that the members make. Raises ArgumentError for missing and unknown ones."""
    array = np.zeros(1, _structured(parameter.dtype))
    _fill(array[0], value, parameter.dtype, parameter.name)
    return array


def _structured(dtype: DataType) -> np.dtype[Any]:
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
        return _structured(dtype)
    letter = _LETTERS.get(dtype.kind)
    return np.dtype(f"{letter}{dtype.size}" if letter else dtype.name)  # an enumeration has a name of its own


def _fill(place: Any, value: Mapping[str, object], dtype: DataType, name: str) -> None:  # noqa: ANN401
    names = [field.name for field in dtype.fields]
    for key in (*(key for key in value if key not in names), *(key for key in names if key not in value)):
        what = "is missing" if key in names else "is no member"
        raise ArgumentError(f"{name}: {key!r} of the struct {dtype} {what}", hint=f"it has {', '.join(names)}")
    for field in dtype.fields:
        item = value[field.name]
        if isinstance(item, Mapping):
            _fill(place[field.name], item, field.type, f"{name}.{field.name}")
            continue
        try:
            place[field.name] = item
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"{name}.{field.name}: {error}", hint=f"it is of type {field.type}") from None
