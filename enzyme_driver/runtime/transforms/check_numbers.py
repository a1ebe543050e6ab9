"""Numbers of floating point in arrays on the host, of structs too: views, directions, weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

EPSILON: Mapping[int, float] = {8: 2.0**-52, 4: 2.0**-23, 2: 2.0**-7}
"""Relative distance of neighbouring floats, by size; for two bytes bfloat16's, the wider one."""
HostArray = np.ndarray[Any, np.dtype[Any]]
Floats = list[HostArray]


def floats_of(array: HostArray) -> Floats:
    """Views of all floating-point numbers in an array, of structs too."""
    return list(float_parts(array))


def float_parts(array: HostArray) -> Iterator[HostArray]:
    if array.dtype.names is not None:
        for name in array.dtype.names:
            yield from float_parts(array[name])
    elif array.dtype.kind == "c":
        yield from (array.real, array.imag)
    elif array.dtype.kind == "f" or array.dtype.name == "bfloat16":
        yield array


def widened(array: HostArray) -> HostArray:
    return array.astype(np.float64)


def all_finite(array: HostArray) -> bool:
    return all(np.isfinite(widened(part)).all() for part in float_parts(array))


def direction_of(values: HostArray, random: np.random.Generator) -> HostArray:
    """Random, of either sign, and in proportion to each value, so that small and positive ones stay so."""
    size = np.abs(widened(values))
    typical = float(np.sqrt(np.mean(size**2))) if size.size else 0.0
    size = np.where(size == 0, typical or 1.0, size)
    direction: HostArray = size * random.uniform(0.5, 1.0, size.shape) * random.choice([-1.0, 1.0], size.shape)
    return direction


def moved_along(start: HostArray, direction: Floats, step: float) -> HostArray:
    moved = start.copy()
    for part, towards in zip(floats_of(moved), direction, strict=True):
        part[...] = np.asarray(widened(part) + step * towards).astype(part.dtype)
    return moved


def random_like(array: HostArray, random: np.random.Generator, *, uniform: bool = False) -> HostArray:
    """Random numbers, or one of them for all elements."""
    weights = np.zeros_like(array, order="C")
    for part in floats_of(weights):
        part[...] = np.asarray(random.uniform(-1.0, 1.0, () if uniform else part.shape)).astype(part.dtype)
    return weights
