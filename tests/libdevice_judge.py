"""Gradients of device mathematics against what is expected; needs nothing but NumPy, so that it runs where a GPU is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

import enzyme_driver as adgen

Array = npt.NDArray[Any]

POINTS = 64
BLOCK = 32
ARGUMENTS = "abcd"
PROBLEMS = "problems.npz"
"""The file beside the artifacts of a sweep."""


@dataclass(frozen=True)
class Problem:
    """Points, cotangents, and what is expected: values, slopes, and what errors of slopes are relative to."""

    points: list[Array]
    cotangents: Array
    values: Array
    slopes: list[Array]
    scales: list[Array]
    tolerance: float


@dataclass(frozen=True)
class Computed:
    """The primal's values, and the slopes times the cotangents."""

    values: Array
    shadows: list[Array]


@dataclass(frozen=True)
class Errors:
    """The largest relative errors; `where` tells of the worst slope."""

    primal: float
    slope: float
    where: str


class Place(Protocol):
    """Moves arrays to where a target wants them, and back; see `cuda_kernels.places`."""

    def put(self, array: Array) -> Any: ...  # noqa: ANN401

    def get(self, array: Any) -> Array: ...  # noqa: ANN401


def inputs(count: int) -> list[str]:
    """The kernel's parameters that hold arguments: as, bs, ..."""
    return [f"{name}s" for name in ARGUMENTS[:count]]


def compute(kernel: adgen.Kernel | adgen.Function, given: Problem, place: Place) -> Computed:
    if not isinstance(kernel, adgen.Kernel):
        raise TypeError(kernel)
    names = inputs(len(given.points))
    values = place.put(np.zeros_like(given.cotangents))
    shadows = {name: place.put(np.zeros_like(given.cotangents)) for name in names}
    launch = (POINTS + BLOCK - 1) // BLOCK, BLOCK
    points = [place.put(point) for point in given.points]
    kernel.gradient[launch](*points, values, POINTS, shadows=shadows | {"ys": place.put(given.cotangents)})
    return Computed(place.get(values), [place.get(shadows[name]) for name in names])


def errors(given: Problem, made: Computed) -> Errors:
    """Compare; NaN where a number is expected is an infinite error, and the other way round."""
    tiny = float(np.finfo(given.cotangents.dtype).tiny) * 1e4
    cotangents = given.cotangents.astype(float)
    slope, where = 0.0, ""
    for name, want, scale, got in zip(ARGUMENTS, given.slopes, given.scales, made.shadows, strict=False):
        off = _relative(got.astype(float), want * cotangents, scale * cotangents + tiny)
        worst = int(np.argmax(off))
        if off[worst] > slope:
            at = ", ".join(f"{float(p[worst]):.9g}" for p in given.points)
            slope = float(off[worst])
            where = f"d/d{name}({at}) = {got[worst] / cotangents[worst]:.9g}, expected {want[worst]:.9g}"
    return Errors(_primal_error(given, made, tiny), slope, where)


def _primal_error(given: Problem, made: Computed, tiny: float) -> float:
    """Relative to the value and to what a relative change of an argument makes of it."""
    with np.errstate(invalid="ignore"):
        changes = [np.abs(s * p.astype(float)) for s, p in zip(given.slopes, given.points, strict=True)]
    size = np.abs(given.values) + np.nan_to_num(np.sum(changes, axis=0), posinf=0.0) + tiny
    return float(np.max(_relative(made.values.astype(float), given.values, size)))


def _relative(got: Array, want: Array, size: Array) -> Array:
    with np.errstate(invalid="ignore"):
        off: Array = np.abs(got - want) / size
    off[np.isnan(off)] = np.inf
    off[(got == want) | (np.isnan(got) & np.isnan(want))] = 0.0
    return off


def save(problems: Mapping[str, Problem], path: Path) -> None:
    """Write what a machine without mpmath needs, by "artifact/kernel"."""
    arrays: dict[str, Array] = {}
    for name, given in problems.items():
        arrays |= {f"{name}/{part}": np.array(value) for part, value in vars(given).items()}
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]  # its stubs take no mapping of names


def load(path: Path) -> dict[str, Problem]:
    with np.load(path) as stored:
        names = dict.fromkeys(key.rpartition("/")[0] for key in stored)
        return {name: _problem({part: stored[f"{name}/{part}"] for part in Problem.__annotations__}) for name in names}


def _problem(parts: Mapping[str, Array]) -> Problem:
    points, slopes, scales = (list(parts[part]) for part in ("points", "slopes", "scales"))
    return Problem(points, parts["cotangents"], parts["values"], slopes, scales, float(parts["tolerance"]))
