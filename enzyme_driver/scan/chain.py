"""A chain of dense Jacobians of one size: its arrays checked, and where their entries lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import Target

AXES = 4
ORDERS = ((0, 1, 2, 3), (0, 2, 1, 3), (2, 0, 1, 3))
"""Which axis of [step, sample, row, column] comes first in memory, second, ...: as users give it, and as launches with
one cotangent after the other write it, for each step and for all steps at once."""
ALIGNMENT = 16
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def library(array: object) -> Any:  # noqa: ANN401
    """NumPy or CuPy, whichever the array is of. Raises ArgumentError for anything else."""
    if isinstance(array, np.ndarray):
        return np
    if type(array).__module__.partition(".")[0] == "cupy":
        import cupy  # type: ignore[import-not-found, unused-ignore]

        return cupy
    raise ArgumentError(
        f"a {type(array).__name__} is neither a NumPy nor a CuPy array", hint="cupy.asarray takes arrays on a GPU"
    )


@dataclass(frozen=True)
class Chain:
    """`jacobians[t, b]` is the Jacobian of step t for sample b, of the shape [size, size]: row i has the derivatives of
    element i of the state after the step, column j those with respect to element j of the state before it.

    `memory` is the C-contiguous array that a kernel is given, and `order` says which axis of `jacobians` each of its
    axes is.
    """

    jacobians: Any
    memory: Any
    order: tuple[int, ...]
    library: Any

    @property
    def steps(self) -> int:
        return int(self.jacobians.shape[0])

    @property
    def batch(self) -> int:
        return int(self.jacobians.shape[1])

    @property
    def size(self) -> int:
        return int(self.jacobians.shape[2])

    @property
    def dtype(self) -> np.dtype[Any]:
        found: np.dtype[Any] = np.dtype(self.jacobians.dtype)
        return found

    @property
    def target(self) -> Target:
        return "openmp" if self.library is np else "cuda"

    @property
    def strides(self) -> tuple[int, int, int]:
        """Of steps, samples and rows, in elements."""
        shape = self.memory.shape
        behind = {axis: math.prod(shape[place + 1 :]) for place, axis in enumerate(self.order)}
        return behind[0], behind[1], behind[2]

    def state(self, array: Any, name: str, *lead: int) -> Any:  # noqa: ANN401
        """A cotangent as [*lead, batch, size], C-contiguous. Raises ArgumentError where it does not fit the chain."""
        shape = (*lead, self.batch, self.size)
        if library(array) is not self.library or array.dtype != self.dtype or tuple(array.shape) != shape:
            found = f"{type(array).__module__}.{type(array).__name__} of {array.dtype}, shape {tuple(array.shape)}"
            raise ArgumentError(
                f"{name} is {found}; a chain of {self.steps} steps of {self.dtype} needs shape {shape}",
                hint="the last axis is the state, the one before it the sample; both arrays from one library",
            )
        return self.library.ascontiguousarray(array)


def chain(jacobians: object) -> Chain:
    """Check the array [steps, batch, size, size] of a chain; it is not copied where one of ORDERS is its memory's.

    Raises ArgumentError.
    """
    xp = library(jacobians)
    array: Any = jacobians
    if array.dtype not in FLOATS:
        raise ArgumentError(f"jacobians: {array.dtype} is no type of a chain", hint="give float32 or float64")
    if array.ndim != AXES or array.shape[2] != array.shape[3]:
        raise ArgumentError(
            f"jacobians: shape {tuple(array.shape)} is no chain of steps with states of one size",
            hint="give [steps, batch, size, size], or a list with one Jacobian a step where sizes differ",
        )
    if not array.shape[1] or not array.shape[2]:
        raise ArgumentError(
            f"jacobians: shape {tuple(array.shape)} has no sample or no state", hint="give one at least"
        )
    for order in ORDERS:
        memory = array.transpose(order)
        if memory.flags.c_contiguous and _address(memory) % ALIGNMENT == 0:
            return Chain(array, memory, order, xp)
    copied = array.copy(order="C")
    return Chain(copied, copied, ORDERS[0], xp)


def _address(array: Any) -> int:  # noqa: ANN401
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)
