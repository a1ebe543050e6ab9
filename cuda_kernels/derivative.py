"""Derivatives of the references by finite differences in float64, in one random direction.

A kernel is seen as a map from all its floats to all its floats: an output that is overwritten does not depend on what
it held, an input that is left alone is mapped to itself. A gradient call multiplies all shadows by the transpose of its
Jacobian.
So for any shadows s and any direction v, <s, J v> = <J^T s, v>: one number that sees every shadow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cuda_kernels.case import Args, Array, Case, Pointers, Value, active_names

Floats = NDArray[np.float64]
Leaves = dict[str, Floats]

_STEP = 1e-6


def widened(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype with every float in float64."""
    if dtype.subdtype is not None:
        inner, shape = dtype.subdtype
        return np.dtype((widened(inner), shape))
    if dtype.names is not None and dtype.fields is not None:
        return np.dtype([(name, widened(dtype.fields[name][0])) for name in dtype.names])
    return np.dtype(np.float64) if dtype.kind == "f" else dtype


def promoted(value: Value) -> Value:
    """A copy in float64 that the reference can change; floats and structs become arrays without dimensions."""
    if isinstance(value, Pointers):
        return replace(value, arrays={name: promoted(array) for name, array in value.arrays.items()})
    if isinstance(value, (np.ndarray, float, np.floating, np.void)):
        array = np.asarray(value)
        return array.astype(widened(array.dtype))
    return value


def leaves_of(value: Value, name: str) -> Iterator[tuple[str, Array]]:
    """The float arrays inside an argument, as views, with a label each."""
    if isinstance(value, Pointers):
        for member, array in value.arrays.items():
            yield from leaves_of(array, f"{name}.{member}")
    elif value.dtype.names is not None:
        for member in value.dtype.names:
            yield from leaves_of(value[member], f"{name}.{member}")
    elif value.dtype.kind == "f":
        yield name, value


def leaves(args: Args, names: Iterable[str]) -> dict[str, Array]:
    """Every float of the named arguments, shadows or promoted arguments."""
    return {label: array for name in names for label, array in leaves_of(args[name], name)}


def reference_state(case: Case, args: Args, direction: Leaves | None = None, step: float = 0.0) -> Leaves:
    """What the floats with a shadow hold after the reference ran from `args + step * direction`."""
    wide = {name: promoted(value) for name, value in args.items()}
    state = leaves(wide, active_names(case, args))
    for label, along in (direction or {}).items():
        state[label][...] += step * along.reshape(state[label].shape)
    case.reference(**wide)
    return {label: np.array(array) for label, array in state.items()}


def pushed_forward(case: Case, args: Args, direction: Leaves) -> Leaves:
    """J v by central differences."""
    ahead = reference_state(case, args, direction, _STEP)
    behind = reference_state(case, args, direction, -_STEP)
    return {label: (ahead[label] - behind[label]) / (2.0 * _STEP) for label in ahead}


def random_like(state: dict[str, Array], rng: np.random.Generator) -> Leaves:
    return {label: rng.standard_normal(array.shape) for label, array in state.items()}


def dot(left: Leaves, right: Leaves) -> tuple[float, float]:
    """The dot product over all leaves in float64, and its size: the root of the sum of the squared terms."""
    together = np.concatenate([(np.asarray(left[label], np.float64) * right[label]).ravel() for label in left])
    return float(together.sum()), float(np.sqrt((together**2).sum()))
