"""Where tensors live and operators run."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from enzyme_driver import processor
from enzyme_driver.errors import DeviceError, UsageError
from enzyme_driver.model import Target
from enzyme_driver.runtime.backends.teams import threads

Name = Literal["cpu", "openmp", "cuda"]
NAMES: tuple[Name, ...] = get_args(Name)
Precision = Literal["float32", "tf32", "bfloat16", "float16"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
TENSOR_CORES = 80
"""The first compute capability, times ten, whose Tensor Cores know all of them."""


@dataclass(frozen=True)
class Device:
    """`cpu` (one thread of the host), `openmp` (all of them) or `cuda` (the current GPU, with CuPy's arrays).

    `precision` is what factors of matrix products of float32 are rounded to, in the product and in its gradient; sums
    and results are float32. On a GPU they run on Tensor Cores unless it is "float32". Raises UsageError for another
    name or precision, DeviceError where there is no CuPy, no GPU, or one that is too old for the precision.
    """

    name: Name
    precision: Precision = "float32"

    def __post_init__(self) -> None:
        for given, known, what in ((self.name, NAMES, "device"), (self.precision, PRECISIONS, "precision")):
            if given not in known:
                raise UsageError(f"{given!r} is no {what}", hint=f"one of {', '.join(known)}")
        arrays = self.arrays  # says at once that CuPy is missing
        if self.name == "cuda" and self.precision != "float32":
            capability = int(arrays.cuda.Device().compute_capability)
            if capability < TENSOR_CORES:
                raise DeviceError(
                    f"products in {self.precision} need a GPU of compute capability 8.0, this has {capability / 10}",
                    hint='take precision="float32"',
                )

    @property
    def target(self) -> Target:
        return "cuda" if self.name == "cuda" else "openmp"

    @cached_property
    def arrays(self) -> Any:  # noqa: ANN401
        """The module that makes its arrays: numpy or cupy."""
        return _cupy() if self.name == "cuda" else np

    @cached_property
    def model(self) -> str:
        """What tells machines apart that are differently fast."""
        if self.name != "cuda":
            return f"{processor.baseline()}-{self.name}"
        name: bytes = self.arrays.cuda.runtime.getDeviceProperties(self.arrays.cuda.Device().id)["name"]
        return name.decode().replace(" ", "-")

    def running(self) -> AbstractContextManager[object]:
        """A context in which operators use as many threads as the device has."""
        return threads(1) if self.name == "cpu" else nullcontext()

    def synchronize(self) -> None:
        """Wait until all that was launched is done."""
        if self.name == "cuda":
            self.arrays.cuda.Device().synchronize()

    def full(self, number: float, dtype: object) -> Any:  # noqa: ANN401
        """An array with this one number, which needs no copy from the host."""
        return self.arrays.full((1, 1), number, dtype)

    def from_host(self, values: object, dtype: object) -> Any:  # noqa: ANN401
        return self.arrays.array(values, dtype=dtype, order="C")

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401
        host: np.ndarray[Any, Any] = self.arrays.asnumpy(array) if self.name == "cuda" else array
        return host


def _cupy() -> Any:  # noqa: ANN401
    try:
        import cupy  # type: ignore[import-not-found, unused-ignore]

        cupy.cuda.runtime.getDeviceCount()
    except ImportError:
        raise DeviceError("the device cuda needs CuPy", hint="pip install cupy-cuda13x, or take openmp") from None
    except Exception as error:  # noqa: BLE001  (whatever CuPy's driver has to say)
        raise DeviceError(f"no GPU can be used: {error}", hint="take the device openmp") from None
    return cupy
