"""Numbers of floating point in arrays on the host, of structs too: views, directions, weights."""

from __future__ import annotations

import math
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


def typical(array: HostArray) -> float:
    """The size of the numbers; 1 where all are zero."""
    parts = floats_of(array)
    count = sum(part.size for part in parts)
    found = norm(array) / math.sqrt(count) if count else 0.0
    return found if found > 0 and math.isfinite(found) else 1.0


def norm(array: HostArray) -> float:
    parts = [float(np.linalg.norm(widened(part))) for part in floats_of(array)]
    return math.hypot(*parts) if parts else 0.0


def largest(array: HostArray) -> float:
    return float(np.max(np.abs(array), initial=0.0))


def has_nonzero(array: HostArray) -> bool:
    return any(np.any(part) for part in floats_of(array))


def scaled_direction(like: HostArray, size: float, random: np.random.Generator, width: int) -> HostArray:
    """Numbers of either sign; the size is a power of two, and in the range of the type."""
    made = np.zeros_like(like, order="C")
    most = {8: 1e100, 4: 1e15, 2: 1e2}[width]
    size = min(max(size, 1 / most), most) if math.isfinite(size) else 1.0
    scale = 2.0 ** round(math.log2(size))
    for part in floats_of(made):
        part[...] = np.asarray(scale * random.standard_normal(part.shape)).astype(part.dtype)
    return made


def products(gradient: HostArray, along: HostArray) -> HostArray:
    parts = zip(floats_of(gradient), floats_of(along), strict=True)
    return np.concatenate([(widened(g) * widened(a)).ravel() for g, a in parts] or [np.zeros(0)])


def apart_along(one: HostArray, other: HostArray, along: HostArray) -> float:
    """How much of the difference of two gradients is seen along a direction."""
    return float(np.linalg.norm(products(one, along) - products(other, along)))


def jump(one: HostArray, other: HostArray) -> float:
    """The largest difference of two elements, relative to the size of all."""
    pairs = zip(floats_of(one), floats_of(other), strict=True)
    return max((largest(widened(a) - widened(b)) for a, b in pairs), default=0.0) / typical(one)


def within(along: HostArray, low: int, high: int) -> HostArray:
    """The direction without the numbers outside of a range of them."""
    made, start = np.zeros_like(along, order="C"), 0
    for part, given in zip(floats_of(made), floats_of(along), strict=True):
        at = np.arange(start, start + part.size).reshape(part.shape)
        part[...] = np.where((at >= low) & (at < high), given, part.dtype.type(0))
        start += part.size
    return made
