"""What an operator does, as a value: the arrays that it takes and makes, its launches, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from enzyme_driver.model import Signature
from enzyme_driver.runtime.call.geometry import Launch, launch_of

Shape = tuple[int, ...]
_BFLOAT16 = "bfloat16"


@dataclass(frozen=True)
class Spec:
    """Shape and dtype (NumPy's name, or bfloat16) of an array."""

    shape: Shape
    dtype: str

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * itemsize(self.dtype)

    @property
    def differentiable(self) -> bool:
        return self.dtype.startswith(("float", "bfloat", "complex"))

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


@dataclass(frozen=True)
class Planned:
    """An array of the plan: one of the operator's inputs, or one that it makes."""

    name: str
    spec: Spec
    given: bool


@dataclass(frozen=True)
class Reference:
    """An array among a launch's arguments, by its number in the plan."""

    number: int


@dataclass(frozen=True)
class PlannedLaunch:
    """One launch of a kernel, or one call of a C++ function (without a grid).

    `arguments` holds numbers, structs and References; `result` is the number of the array that takes what a function
    returns, -1 where nothing does.
    """

    name: str
    grid: tuple[int, ...] | None
    block: tuple[int, ...] | None
    shared_bytes: int | None
    arguments: tuple[Any, ...]
    result: int = -1

    @property
    def key(self) -> tuple[object, ...]:
        """What stands between the brackets of the launch."""
        return (self.grid, self.block, None, self.shared_bytes)

    def launch(self, signature: Signature) -> Launch | None:
        """None for a C++ function."""
        return launch_of(self.key, signature) if self.grid is not None else None


@dataclass(frozen=True)
class Filling:
    """An array set to zero."""

    target: int


@dataclass(frozen=True)
class Copying:
    """An array that gets the elements of another one."""

    target: int
    source: int


@dataclass(frozen=True)
class Plan:
    """The first `inputs` arrays are the operator's own; `outputs` are numbers of arrays that it makes."""

    arrays: tuple[Planned, ...]
    inputs: int
    steps: tuple[PlannedLaunch | Filling | Copying, ...]
    outputs: tuple[int, ...]

    @property
    def results(self) -> tuple[Spec, ...]:
        return tuple(self.arrays[number].spec for number in self.outputs)


def itemsize(dtype: str) -> int:
    return 2 if dtype == _BFLOAT16 else int(np.dtype(dtype).itemsize)


def dtype_name(dtype: object) -> str:
    """NumPy's name of a type of NumPy, PyTorch, JAX or Python. Raises TypeError for what is none."""
    text = str(dtype).removeprefix("torch.")
    if text == _BFLOAT16 or getattr(dtype, "name", "") == _BFLOAT16 or _BFLOAT16 in text:
        return _BFLOAT16
    return str(np.dtype(text if str(dtype).startswith("torch.") else dtype).name)  # type: ignore[call-overload]
