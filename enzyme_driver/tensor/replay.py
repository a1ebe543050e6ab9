"""Computations that the GPU is given as a whole: recorded once as a CUDA graph, then replayed by one launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from enzyme_driver.errors import DeviceError
from enzyme_driver.tensor.array import Tensor
from enzyme_driver.tensor.devices import Device

Computation = Callable[..., Tensor]


def replayed(computation: Computation, device: Device) -> Computation:
    """`computation` of tensors on `device`, without the time that Python needs between its launches.

    On the GPU the first call with inputs of given shapes runs it, the second one records it, and the later ones replay
    the record with the numbers of the new inputs. So it must do the same whatever the numbers are, change
    arrays only in place (`weight.data -= ...`), and read none on the host (`item`, `numpy`); numbers that it takes from
    elsewhere stay what they were. The result is overwritten by the next call with such shapes. On the host it is
    `computation` itself. Raises DeviceError where it cannot be recorded.
    """
    return _Replayed(computation, device) if device.name == "cuda" else computation


class _Replayed:
    def __init__(self, computation: Computation, device: Device) -> None:
        self._computation = computation
        self._device = device
        self._records: dict[tuple[object, ...], Record | None] = {}

    def __call__(self, *inputs: Tensor) -> Tensor:
        key = tuple((item.shape, item.dtype) for item in inputs)
        if key not in self._records:
            self._records[key] = None  # everything is compiled and measured by the time of the record
            return self._computation(*inputs)
        record = self._records[key]
        if record is None:
            active = [item.requires_grad for item in inputs]
            record = self._records[key] = recorded(partial(self._of_arrays, active), self._device, _data(inputs))
        result: Tensor = record.replay(_data(inputs))
        return result

    def _of_arrays(self, active: list[bool], *arrays: Any) -> Tensor:  # noqa: ANN401
        pairs = zip(arrays, active, strict=True)
        return self._computation(*[Tensor(data, self._device, requires_grad=wanted) for data, wanted in pairs])


def _data(inputs: Sequence[Tensor]) -> list[Any]:
    return [item.data for item in inputs]


@dataclass(frozen=True)
class Record:
    """A graph with the arrays that it reads, its result, and the owners of the memory that it uses."""

    graph: Any
    inputs: tuple[Any, ...]
    result: Any
    owners: tuple[object, ...]

    def replay(self, inputs: Sequence[Any]) -> Any:  # noqa: ANN401
        """The result with other numbers in the arrays."""
        for held, given in zip(self.inputs, inputs, strict=True):
            held[...] = given
        self.graph.launch()
        return self.result


def recorded(computation: Callable[..., Any], device: Device, inputs: Sequence[Any], stream: Any = None) -> Record:  # noqa: ANN401
    """`computation` of copies of these arrays on a GPU, as a graph. Raises DeviceError where it cannot be recorded.

    Gradients that keep values have memory for them on each stream, which cannot be had while one is recorded: these
    need a `stream` on which the computation has run before.
    """
    cupy = device.arrays
    held = tuple(array.copy() for array in inputs)
    pool, stream = cupy.cuda.MemoryPool(), stream or cupy.cuda.Stream(non_blocking=True)
    device.synchronize()
    with cupy.cuda.using_allocator(pool.malloc), stream:
        stream.begin_capture()
        try:
            result = computation(*held)
            graph = stream.end_capture()
        except (RuntimeError, DeviceError) as error:  # CuPy's errors are RuntimeErrors
            raise DeviceError(
                f"the computation cannot be recorded: {error}",
                hint="read no numbers on the host inside it (item, numpy), and make no tensors of host arrays",
            ) from None
        finally:
            with suppress(RuntimeError):  # what has failed leaves a graph that is none
                if stream.is_capturing():
                    stream.end_capture()
    return Record(graph, held, result, (pool, stream))
