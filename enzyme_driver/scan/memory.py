"""Memory for what may be too much of it."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from enzyme_driver.errors import DeviceError


def room(xp: Any, shape: tuple[int, ...], dtype: Any, what: str) -> Any:  # noqa: ANN401
    """An array of zeros. Raises DeviceError, with the bytes that are needed and what to do, where there is no room."""
    needed = prod(shape) * np.dtype(dtype).itemsize
    try:
        return xp.zeros(shape, dtype)
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "OutOfMemory" not in type(error).__name__:
            raise
        raise DeviceError(
            f"{what}, of shape {shape}, need {needed:,} bytes, for which there is no room",
            hint="differentiate the chain in parts, the last steps first, or take fewer samples at once",
        ) from None
