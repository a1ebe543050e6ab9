"""Structs of numbers behind a const reference, which may be given as dicts of their members."""

from __future__ import annotations

from typing import Any

import numpy as np

from enzyme_driver.model import DataType, Parameter

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
