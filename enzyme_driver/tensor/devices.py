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


@dataclass(frozen=True)
class Device:
    """`cpu` (one thread of the host), `openmp` (all of them) or `cuda` (the current GPU, with CuPy's arrays).

    Raises UsageError for another name, DeviceError where there is no CuPy or no GPU.
    """

    name: Name

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise UsageError(f"{self.name!r} is no device", hint=f"one of {', '.join(NAMES)}")
        self.arrays  # noqa: B018  (says at once that CuPy is missing)

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
