"""New arrays, made by the library that the given ones come from."""

from __future__ import annotations

import importlib
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np

from enzyme_driver.model import Target

HostArray = np.ndarray[Any, np.dtype[Any]]


class Library(Protocol):
    """What adgen asks of an array library. `array` and `like` are arrays that it understands."""

    def on(self, stream: int | None) -> AbstractContextManager[object]:
        """A context in which its work is ordered on the stream with that handle (None: its current stream)."""

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype[Any], like: object) -> Any: ...  # noqa: ANN401

    def zeros_like(self, array: object) -> Any: ...  # noqa: ANN401

    def memory(self, count: int, like: object) -> Any:  # noqa: ANN401
        """An array of that many bytes, of any content."""

    def copy(self, array: object) -> Any: ...  # noqa: ANN401

    def to_host(self, array: object) -> HostArray: ...

    def from_host(self, data: HostArray, like: object) -> Any: ...  # noqa: ANN401


class NumpyLibrary:
    """NumPy, and whatever it can look at."""

    def on(self, stream: int | None) -> AbstractContextManager[object]:
        return nullcontext(stream)

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype[Any], like: object) -> HostArray:
        del like
        return np.zeros(shape, dtype)

    def zeros_like(self, array: object) -> HostArray:
        return np.zeros_like(self.to_host(array), order="C")

    def memory(self, count: int, like: object) -> HostArray:
        del like
        return np.empty(count, np.uint8)

    def copy(self, array: object) -> HostArray:
        return np.array(self.to_host(array), order="C", copy=True)

    def to_host(self, array: Any) -> HostArray:  # noqa: ANN401
        return np.asarray(array) if hasattr(array, "__array_interface__") else np.from_dlpack(array)

    def from_host(self, data: HostArray, like: object) -> HostArray:
        del like
        return np.array(data, order="C", copy=True)


class TorchLibrary:
    """PyTorch, on the CPU and on the GPU."""

    def __init__(self, torch: Any) -> None:  # noqa: ANN401
        self._torch = torch

    def on(self, stream: int | None) -> AbstractContextManager[object]:
        cuda = self._torch.cuda
        return nullcontext() if stream is None else cuda.stream(cuda.ExternalStream(stream))

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype[Any], like: Any) -> Any:  # noqa: ANN401
        return self._torch.zeros(shape, dtype=getattr(self._torch, dtype.name), device=like.device)

    def zeros_like(self, array: Any) -> Any:  # noqa: ANN401
        return self._torch.zeros_like(array.detach(), memory_format=self._torch.contiguous_format)

    def memory(self, count: int, like: Any) -> Any:  # noqa: ANN401
        return self._torch.empty(count, dtype=self._torch.uint8, device=like.device)

    def copy(self, array: Any) -> Any:  # noqa: ANN401
        return array.detach().clone(memory_format=self._torch.contiguous_format)

    def to_host(self, array: Any) -> HostArray:  # noqa: ANN401
        host: HostArray = array.detach().cpu().numpy()
        return host

    def from_host(self, data: HostArray, like: Any) -> Any:  # noqa: ANN401
        return self._torch.from_numpy(np.array(data, order="C", copy=True)).to(like.device)


class CupyLibrary:
    """CuPy, which also looks at the arrays of Numba and JAX."""

    def __init__(self, cupy: Any) -> None:  # noqa: ANN401
        self._cupy = cupy

    def on(self, stream: int | None) -> AbstractContextManager[object]:
        cuda, entered = self._cupy.cuda, nullcontext()
        if stream is not None:
            recent = hasattr(cuda.Stream, "from_external")
            entered = cuda.Stream.from_external(_Handle(stream)) if recent else cuda.ExternalStream(stream)
        return entered

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype[Any], like: object) -> Any:  # noqa: ANN401
        with self._seen(like).device:
            return self._cupy.zeros(shape, dtype)

    def zeros_like(self, array: object) -> Any:  # noqa: ANN401
        seen = self._seen(array)
        with seen.device:
            return self._cupy.zeros(seen.shape, seen.dtype)

    def memory(self, count: int, like: object) -> Any:  # noqa: ANN401
        with self._seen(like).device:
            return self._cupy.empty(count, np.uint8)

    def copy(self, array: object) -> Any:  # noqa: ANN401
        seen = self._seen(array)
        with seen.device:
            return self._cupy.array(seen, order="C", copy=True)

    def to_host(self, array: object) -> HostArray:
        host: HostArray = self._cupy.asnumpy(self._seen(array))
        return host

    def from_host(self, data: HostArray, like: object) -> Any:  # noqa: ANN401
        with self._seen(like).device:
            return self._cupy.array(data, order="C")

    def _seen(self, array: object) -> Any:  # noqa: ANN401
        cupy = self._cupy
        if isinstance(array, cupy.ndarray):  # which asarray would copy to the current device
            return array
        return cupy.asarray(array) if hasattr(array, "__cuda_array_interface__") else cupy.from_dlpack(array)


class _Handle:
    """A stream of somebody else, in the protocol that array libraries share."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._handle


def library_of(value: object, target: Target) -> Library:
    """The library that makes arrays like `value`, which has been checked already."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return TorchLibrary(torch)
    if target == "openmp":
        return NumpyLibrary()
    interface = getattr(value, "__cuda_array_interface__", {"typestr": ""})
    structured = interface["typestr"][1:2] == "V"  # CuPy has no structs
    return buffer_library() if structured else _cupy() or buffer_library()


def _cupy() -> Library | None:
    try:
        return CupyLibrary(importlib.import_module("cupy"))
    except ImportError:
        return None


def buffer_library() -> Library:
    """The library that needs nothing but cuda-core."""
    from enzyme_driver.runtime.backends.buffers import BufferLibrary

    return BufferLibrary()
