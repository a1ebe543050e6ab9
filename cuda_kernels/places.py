"""Where arguments live: in host memory as NumPy arrays, or on the GPU as CuPy arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cuda_kernels.case import Array, Pointers, Value


class Place(Protocol):
    """Moves arrays to where a target wants them, and back."""

    def put(self, array: Array) -> Value:
        """A copy of the array there."""

    def get(self, array: Value) -> Array:
        """The array's content as a NumPy array."""

    def address(self, array: Value) -> int:
        """Where its first byte lies."""


class Host:
    """NumPy, for the OpenMP target."""

    def put(self, array: Array) -> Array:
        return array.copy()

    def get(self, array: Array) -> Array:
        return np.asarray(array)

    def address(self, array: Array) -> int:
        return int(array.ctypes.data)


@dataclass(frozen=True)
class DeviceStructs:
    """An array of structs on the GPU; CuPy has none, but the array interface can tell of it."""

    memory: Any
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "data": (self.memory.data.ptr, False),
            "version": 3,
        }


class Gpu:
    """CuPy, for the CUDA target. Raises ImportError where it is not installed."""

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy

    def put(self, array: Array) -> Value:
        if array.dtype.names is None:
            words = array.dtype.name == "bfloat16"  # of which CuPy takes the bits alone
            return self.cupy.asarray(array.view(np.uint16) if words else array)
        data = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
        return DeviceStructs(self.cupy.asarray(data), array.dtype, array.shape)

    def get(self, array: Value) -> Array:
        if isinstance(array, DeviceStructs):
            data = self.cupy.asnumpy(array.memory)
            return np.frombuffer(data.tobytes(), array.dtype).reshape(array.shape)
        return np.asarray(self.cupy.asnumpy(array))

    def address(self, array: Value) -> int:
        return int(array.memory.data.ptr if isinstance(array, DeviceStructs) else array.data.ptr)


@dataclass(frozen=True)
class Placed:
    """An argument at its place; `handed` is what the call takes, `arrays` keeps what a struct points to."""

    handed: Any
    host: Any
    arrays: dict[str, Any]


def placed(value: Value, place: Place) -> Placed:
    if isinstance(value, Pointers):
        arrays = {name: place.put(array) for name, array in value.arrays.items()}
        return Placed(value.pack({name: place.address(array) for name, array in arrays.items()}), value, arrays)
    if isinstance(value, np.ndarray):
        return Placed(place.put(value), value, {})
    return Placed(value, value, {})


def fetched(item: Placed, place: Place) -> Value:
    """The argument's present content on the host, in the form that `case.make` gives it."""
    if isinstance(item.host, Pointers):
        arrays = {name: place.get(array) for name, array in item.arrays.items()}
        return Pointers(item.host.layout, arrays, item.host.values)
    return place.get(item.handed) if isinstance(item.host, np.ndarray) else item.host
