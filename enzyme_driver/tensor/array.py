"""Tensors, and the graph that they come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from enzyme_driver.errors import ArgumentError
from enzyme_driver.tensor.application import Application, apply
from enzyme_driver.tensor.devices import Device
from enzyme_driver.tensor.kernels import C_TYPES
from enzyme_driver.tensor.operators import Operator

AXES = 2
_recording: ContextVar[bool] = ContextVar("recording", default=True)


@contextmanager
def no_grad() -> Iterator[None]:
    """Inside, results remember nothing of where they come from."""
    token = _recording.set(False)
    try:
        yield
    finally:
        _recording.reset(token)


class Tensor:
    """A matrix of float32 or float64 on a device. Operators give new ones; `data` may be changed in place.

    `grad` is what `backward` has added up so far, an array like `data`; None before the first time, and where
    `requires_grad` is False.
    """

    __array_ufunc__ = None  # NumPy leaves `array * tensor` to the tensor

    def __init__(self, data: Any, device: Device, *, requires_grad: bool = False) -> None:  # noqa: ANN401
        self.data = data
        self.device = device
        self.requires_grad = requires_grad
        self.grad: Any = None
        self.origin: tuple[Application, tuple[Tensor, ...]] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.data.shape
        return int(rows), int(columns)

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = np.dtype(self.data.dtype)
        return dtype

    def numpy(self) -> np.ndarray[Any, Any]:
        """Its numbers on the host; on the host itself not a copy."""
        return self.device.to_host(self.data)

    def item(self) -> float:
        """Its only number. Raises ArgumentError where there are more."""
        if self.shape != (1, 1):
            raise ArgumentError(f"a tensor of the shape {self.shape} is not one number", hint="add it up first")
        return float(self.numpy()[0, 0])

    def backward(self, cotangent: object = None) -> None:
        """Add the derivatives to the `grad` of every tensor with `requires_grad` that this one was computed from.

        `cotangent` weighs the elements, an array of this shape; left out for a tensor of one element. Raises
        ArgumentError.
        """
        if cotangent is None and self.shape != (1, 1):
            raise ArgumentError(
                f"the gradient of a tensor of the shape {self.shape} needs a cotangent",
                hint="add it up, or give weights",
            )
        seed = self.device.full(1.0, self.dtype) if cotangent is None else self.device.from_host(cotangent, self.dtype)
        if seed.shape != self.shape:
            raise ArgumentError(
                f"the cotangent has the shape {seed.shape}, the tensor {self.shape}", hint="give one weight an element"
            )
        graph.backward(self, seed)

    def __repr__(self) -> str:
        return f"Tensor({self.numpy()!r}, {self.device.name!r})"

    def __add__(self, other: Tensor | float) -> Tensor:
        return functions.add(self, other)

    def __radd__(self, other: float) -> Tensor:
        return functions.add(other, self)

    def __sub__(self, other: Tensor | float) -> Tensor:
        return functions.subtract(self, other)

    def __rsub__(self, other: float) -> Tensor:
        return functions.subtract(other, self)

    def __mul__(self, other: Tensor | float) -> Tensor:
        return functions.multiply(self, other)

    def __rmul__(self, other: float) -> Tensor:
        return functions.multiply(other, self)

    def __truediv__(self, other: Tensor | float) -> Tensor:
        return functions.divide(self, other)

    def __rtruediv__(self, other: float) -> Tensor:
        return functions.divide(other, self)

    def __pow__(self, other: Tensor | float) -> Tensor:
        return functions.power(self, other)

    def __rpow__(self, other: float) -> Tensor:
        return functions.power(other, self)

    def __matmul__(self, other: Tensor) -> Tensor:
        return functions.matmul(self, other)

    def __neg__(self) -> Tensor:
        return functions.negate(self)


def tensor(values: object, device: Device, *, dtype: DTypeLike | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of numbers, copied to the device. One number is (1, 1), a list of them one row.

    `dtype` is float32 or float64; left out, that of `values` where it is one of these, else float32. Raises
    ArgumentError.
    """
    given = np.asarray(values)
    wanted = np.dtype(dtype) if dtype is not None else given.dtype
    if dtype is None and wanted.name not in C_TYPES:
        wanted = np.dtype(np.float32)
    if wanted.name not in C_TYPES:
        raise ArgumentError(f"tensors of {wanted.name} do not exist", hint=f"one of {', '.join(C_TYPES)}")
    if given.dtype.kind not in "fiub":
        raise ArgumentError(f"{given.dtype.name} is not a type of numbers", hint="give numbers")
    if given.ndim > AXES or given.size == 0:
        raise ArgumentError(
            f"tensors have two axes, not the shape {given.shape}", hint="reshape the array to (rows, columns)"
        )
    return Tensor(device.from_host(np.atleast_2d(given), wanted), device, requires_grad=requires_grad)


def applied(operator: Operator, inputs: Sequence[Tensor]) -> Tensor:
    """The operator's result, which remembers its inputs where one of them has a gradient."""
    device = inputs[0].device
    application = apply(operator, device, tuple(item.data for item in inputs))
    remembered = _recording.get() and any(item.requires_grad for item in inputs)
    result = Tensor(application.out, device, requires_grad=remembered)
    if remembered:
        result.origin = (application, tuple(inputs))
    return result


from enzyme_driver.tensor import functions, graph  # noqa: E402  (they need Tensor, whose operators they are)
