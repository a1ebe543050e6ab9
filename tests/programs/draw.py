"""Random arguments of programs, beside those of the kernel collection."""

from __future__ import annotations

from typing import Any

import numpy as np

F32, F64 = np.float32, np.float64

Rng = np.random.Generator
Array = np.ndarray[Any, np.dtype[Any]]

INT2 = np.dtype([("x", np.int32), ("y", np.int32)])
FLOAT2 = np.dtype([("x", F32), ("y", F32)])
FLOAT3 = np.dtype([("x", F32), ("y", F32), ("z", F32)])
FLOAT4 = np.dtype([("x", F32), ("y", F32), ("z", F32), ("w", F32)])
DOUBLE2 = np.dtype([("x", F64), ("y", F64)])
DOUBLE3 = np.dtype([("x", F64), ("y", F64), ("z", F64)])
INT3 = np.dtype([("x", np.int32), ("y", np.int32), ("z", np.int32)])


def structs(dtype: np.dtype[Any], values: Array) -> Array:
    """An array of structs whose members are columns of `values` of shape (n, members)."""
    array = np.zeros(len(values), dtype)
    for column, name in enumerate(dtype.names or ()):
        array[name] = values[:, column]
    return array


def struct(dtype: np.dtype[Any], *values: Any) -> Any:  # noqa: ANN401
    """One struct as a NumPy scalar."""
    return np.array([values], dtype)[0]
