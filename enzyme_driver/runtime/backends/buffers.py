"""Plain GPU arrays over cuda-core's buffers, for callers whose library cannot make writable ones itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from enzyme_driver.runtime.backends.driver import (
    api,
    current_device,
    device_of,
    done,
    on_device,
    ready_device,
    synchronize,
)
from enzyme_driver.runtime.backends.streams import DEFAULT
from enzyme_driver.runtime.call.arrays import interface_dtype

HostArray = np.ndarray[Any, np.dtype[Any]]
_COPY = "GPU memory cannot be copied"


class DeviceArray:
    """A C-contiguous array in GPU memory that speaks `__cuda_array_interface__`."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> None:
        self.shape = shape
        self.dtype = dtype
        self.nbytes = prod(shape) * dtype.itemsize
        self.device = device
        with on_device(device):
            owner = ready_device(device)
            self._buffer = owner.allocate(max(self.nbytes, 1), stream=owner.default_stream)

    @property
    def address(self) -> int:
        return int(self._buffer.handle)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "data": (self.address, False),
            "strides": None,
            "version": 3,
            "stream": None,
        }

    def copy_to_host(self) -> HostArray:
        """A NumPy array with the content."""
        return BufferLibrary().to_host(self)


class BufferLibrary:
    """Makes `DeviceArray`s like any array in GPU memory; all its work is done when a call returns."""

    @contextmanager
    def on(self, stream: int | None) -> Iterator[None]:
        """Waits for a given stream before and after, because the buffers are freed on the default stream."""
        if stream is not None:
            synchronize(stream)
        yield
        if stream is not None:
            synchronize(stream)

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype[Any], like: Any) -> DeviceArray:  # noqa: ANN401
        array = DeviceArray(shape, dtype, _device_of(like))
        with on_device(array.device):
            done(api().cuMemsetD8(array.address, 0, max(array.nbytes, 1)), "GPU memory cannot be set")
            synchronize(DEFAULT)
        return array

    def zeros_like(self, array: Any) -> DeviceArray:  # noqa: ANN401
        interface = array.__cuda_array_interface__
        return self.zeros(tuple(interface["shape"]), interface_dtype(array, interface), array)

    def memory(self, count: int, like: Any) -> DeviceArray:  # noqa: ANN401
        array = DeviceArray((count,), np.dtype(np.uint8), _device_of(like))
        with on_device(array.device):
            synchronize(DEFAULT)
        return array

    def copy(self, array: Any) -> DeviceArray:  # noqa: ANN401
        fresh = self.zeros_like(array)
        source = _address_of(array)
        if fresh.nbytes:
            with on_device(fresh.device):
                done(api().cuMemcpyDtoD(fresh.address, source, fresh.nbytes), _COPY)
                synchronize(DEFAULT)
        return fresh

    def to_host(self, array: Any) -> HostArray:  # noqa: ANN401
        interface = array.__cuda_array_interface__
        host: HostArray = np.empty(tuple(interface["shape"]), interface_dtype(array, interface))
        if host.nbytes:
            with on_device(_device_of(array)):
                done(api().cuMemcpyDtoH(host.ctypes.data, _address_of(array), host.nbytes), _COPY)
        return host

    def from_host(self, data: HostArray, like: object) -> DeviceArray:
        plain = np.array(data, order="C", copy=True)
        fresh = self.zeros(plain.shape, plain.dtype, like)
        if plain.nbytes:
            with on_device(fresh.device):
                done(api().cuMemcpyHtoD(fresh.address, plain.ctypes.data, plain.nbytes), _COPY)
                synchronize(DEFAULT)
        return fresh


def _address_of(array: Any) -> int:  # noqa: ANN401
    return int(array.__cuda_array_interface__["data"][0] or 0)


def _device_of(array: Any) -> int:  # noqa: ANN401
    device = device_of(_address_of(array)) if hasattr(array, "__cuda_array_interface__") else None
    return current_device() if device is None else device
