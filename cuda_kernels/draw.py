"""Random arguments of the cases."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

F32 = np.float32
F64 = np.float64

Rng = np.random.Generator
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def normal(rng: Rng, *shape: int, dtype: type = F32) -> NDArray[np.floating]:
    return rng.standard_normal(shape).astype(dtype)


def uniform(rng: Rng, low: float, high: float, *shape: int, dtype: type = F32) -> NDArray[np.floating]:
    return rng.uniform(low, high, shape).astype(dtype)


def zeros(*shape: int, dtype: type = F32) -> NDArray[np.floating]:
    return np.zeros(shape, dtype)


def away_from_zero(rng: Rng, *shape: int, dtype: type = F32) -> NDArray[np.floating]:
    """Of either sign, far enough from a kink at 0 for finite differences and rounding."""
    return (rng.choice([-1.0, 1.0], shape) * rng.uniform(0.1, 2.0, shape)).astype(dtype)


def integers(rng: Rng, low: int, high: int, *shape: int, dtype: type = np.int32) -> NDArray[np.integer]:
    """From `low` to `high - 1`."""
    return rng.integers(low, high, shape).astype(dtype)
