"""A kernel at one size, and what it costs at least."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import cupy as cp
import numpy as np

import enzyme_driver as adgen
from cuda_kernels.case import Extent
from cuda_kernels.places import DeviceStructs

FP32_FLOPS = 60e12
"""Flops a second of an H200 in float32 outside the Tensor Cores, by its data sheet, less what is never reached."""
FP64_FLOPS = 30e12
"""The same in float64."""

Args = dict[str, Any]
Runs = Mapping[str, Callable[[], object]]
"""What is timed: `primal` and `gradient`."""


@dataclass(frozen=True)
class Floor:
    """The least that the primal moves, in bytes, and computes; a mathematical function counts as one operation."""

    bytes: float
    flops: float = 0.0
    flops_a_second: float = FP32_FLOPS

    def milliseconds(self, bytes_a_second: float) -> float:
        return 1e3 * max(self.bytes / bytes_a_second, self.flops / self.flops_a_second)


@dataclass(frozen=True)
class Launch:
    """A kernel with its arguments and shadows on the GPU; `where` is what stands in the brackets of a call."""

    kernel: Any
    where: tuple[Any, ...]
    args: Args
    shadows: Args

    def refill(self) -> None:
        """Ones in all shadows: a gradient has consumed the cotangents, and zeros take another way through divisions."""
        for shadow in self.shadows.values():
            for array in shadow.values() if isinstance(shadow, dict) else (shadow,):
                (array.memory if isinstance(array, DeviceStructs) else array).fill(1)


def one_launch(launch: Launch) -> Runs:
    values = list(launch.args.values())
    return {
        "primal": lambda: launch.kernel[launch.where](*values),
        "gradient": lambda: launch.kernel.gradient[launch.where](*values, shadows=launch.shadows),
    }


@dataclass(frozen=True)
class TimeLoop:
    """`steps` launches that read `source` and write `target`, which are swapped; the gradient is a tape's.

    With `renewed`, each launch on the tape writes to an array of its own, so that nothing has to be copied.
    """

    steps: int
    source: str
    target: str
    renewed: bool = False

    def __call__(self, launch: Launch) -> Runs:
        def primal(*, renewed: bool = False) -> Any:  # noqa: ANN401, a CuPy array
            args = dict(launch.args)
            for _ in range(self.steps):
                launch.kernel[launch.where](*args.values())
                old = args[self.source]
                args[self.source] = args[self.target]
                args[self.target] = cp.empty_like(old) if renewed else old
            return args[self.source]

        def gradient() -> None:
            with adgen.Tape() as tape:
                end = primal(renewed=self.renewed)
            tape.gradient(end, launch.args[self.source], launch.shadows[self.source])

        return {"primal": primal, "gradient": gradient}


@dataclass(frozen=True)
class Case:
    """`artifact` names a case of the collection, `args` makes its arguments by name, `runs` what is timed."""

    name: str
    artifact: str
    size: str
    args: Callable[[], Args]
    grid: Extent
    block: Extent
    at_most: float
    floor: Floor
    shared_bytes: int = 0
    runs: Callable[[Launch], Runs] = field(default=one_launch)

    @property
    def label(self) -> str:
        return f"{self.name}, {self.size}"

    def launch(self, kernel: Any) -> Launch:  # noqa: ANN401, what adgen.load gives
        given = self.args()
        args = {name: given[name] for name in kernel.signature.names}
        shadows = {
            parameter.name: ones_like(args[parameter.name]) for parameter in kernel.signature if parameter.has_shadow
        }
        return Launch(kernel, (self.grid, self.block, None, self.shared_bytes), args, shadows)


def uniform(*shape: int, low: float = 0.0, high: float = 1.0, dtype: str = "float32") -> Any:  # noqa: ANN401
    numbers = cp.random.default_rng().random(shape, dtype=dtype)
    return numbers if (low, high) == (0.0, 1.0) else low + (high - low) * numbers


def structs(words: Any, dtype: np.dtype[np.void]) -> DeviceStructs:  # noqa: ANN401
    """A CuPy array of 8-byte words, the last axis a struct's, as an array of structs."""
    return DeviceStructs(words, dtype, words.shape[:-1])


def ones_like(value: Any) -> Any:  # noqa: ANN401
    """Cotangents of the argument's form, for arrays that hold floats; in structs every word is a one."""
    if isinstance(value, dict):
        arrays = {name: each for name, each in value.items() if isinstance(each, DeviceStructs | cp.ndarray)}
        return {name: ones_like(each) for name, each in arrays.items() if each.dtype.kind in "fV"}
    if isinstance(value, DeviceStructs):
        return DeviceStructs(cp.ones_like(value.memory), value.dtype, value.shape)
    return cp.ones_like(value)
