"""The same call on two targets: its arguments on the other one, and how far two gradients are apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from enzyme_driver.errors import UsageError
from enzyme_driver.model import Target
from enzyme_driver.runtime.backends.libraries import library_of
from enzyme_driver.runtime.call.arrays import is_array

if TYPE_CHECKING:
    from enzyme_driver.runtime.function import Function
    from enzyme_driver.runtime.kernel import Kernel

Parts = Sequence[np.ndarray[Any, np.dtype[Any]]]


def placed(value: object, source: Target, target: Target) -> object:
    """An argument that can be used on `source`, on `target`: NumPy's arrays on the host, plain ones on the GPU."""
    if isinstance(value, Mapping):
        return {name: placed(member, source, target) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [placed(member, source, target) for member in value]
    if source == target or not is_array(value):
        return value
    data = library_of(value, source).to_host(value)
    if target == "openmp":
        return data
    from enzyme_driver.runtime.backends.buffers import BufferLibrary

    return BufferLibrary().from_host(data, None)


def check_same_signature(one: Kernel | Function, other: Kernel | Function) -> None:
    if other.signature != one.signature:
        raise UsageError(
            f"{one.signature} cannot be checked against {other.signature}",
            hint="give the same kernel or function, of the artifact that was loaded for another target",
        )


def copy_variables(source: Kernel, target: Kernel) -> None:
    """The variables of the device hold there what they hold here, addresses only on the same target.

    Raises UsageError for one that leads nowhere on another target.
    """
    for variable in source.signature.variables:
        if not variable.dtype.has_pointers:
            target.variables[variable.name] = np.array(source.variables[variable.name])
        elif source.target == target.target:
            target.variables.point_as(source.variables, variable.name)
        elif source.variables.is_set(variable.name) and not target.variables.is_set(variable.name):
            raise UsageError(
                f"the variable {variable.name!r} leads to arrays of {source.target}, and to none of {target.target}",
                hint="pass what it leads to as a parameter, or set it for the other target, too, where that is loaded",
            )


def apart(one: Parts, other: Parts) -> float:
    """The norm of the difference, relative to the larger of the two; infinite where something is no number."""
    first, second = (np.concatenate([part.astype(np.float64).ravel() for part in parts]) for parts in (one, other))
    largest = max(float(np.linalg.norm(first)), float(np.linalg.norm(second)))
    difference = float(np.linalg.norm(first - second))
    if not math.isfinite(largest):
        return math.inf
    return difference / largest if largest else 0.0
