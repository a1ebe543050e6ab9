"""Random arguments from a signature: what every kernel of the table takes unless its row says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from enzyme_driver.model import DataType, Parameter, Signature
from enzyme_driver.runtime.call.layouts import numpy_dtype

ELEMENTS = 40
"""What `n` is: less than the threads of a launch, and less than the elements of an array."""
LENGTH = 64

Rng = np.random.Generator
Array = np.ndarray[Any, np.dtype[Any]]


def arguments(signature: Signature, given: Mapping[str, Any], rng: Rng) -> dict[str, Any]:
    """One argument a parameter; what is given may be a function of the generator, or the name of the one it is."""
    made = {parameter.name: _argument(parameter, rng) for parameter in signature if parameter.name not in given}
    made |= {name: value(rng) if callable(value) else value for name, value in given.items()}
    made |= {name: made[value] for name, value in given.items() if isinstance(value, str)}
    return {name: made[name] for name in signature.names}


def apart(rng: Rng, shape: tuple[int, ...], fraction: float = 0.5) -> Array:
    """Floats between 0.5 and 1.5 in random order, far enough from each other and from quarters for differences."""
    size = int(np.prod(shape))
    numbers: Array = rng.permutation(size)
    return (0.5 + (numbers + fraction) / size).reshape(shape)


def _argument(parameter: Parameter, rng: Rng) -> Any:  # noqa: ANN401
    if parameter.is_pointer:
        return filled(parameter.dtype, (1 if parameter.reference else LENGTH,), rng)
    if parameter.dtype.has_pointers:
        return {member.name: _member(member.name, member.type, rng) for member in parameter.dtype.fields}
    return _value(parameter.name, parameter.dtype, rng)


def _member(name: str, dtype: DataType, rng: Rng) -> Any:  # noqa: ANN401
    return filled(dtype.pointee, (LENGTH,), rng) if dtype.pointee else _value(name, dtype, rng)


def _value(name: str, dtype: DataType, rng: Rng) -> Any:  # noqa: ANN401
    if name == "n":
        return ELEMENTS
    value = filled(dtype, (1,), rng)[0]
    return value if dtype.kind == "struct" else value.item()


def filled(dtype: DataType, shape: tuple[int, ...], rng: Rng) -> Array:
    """A random array of that type."""
    array = np.zeros(shape, numpy_dtype(dtype))
    _fill(array, rng)
    return array


def _fill(array: Array, rng: Rng) -> None:
    """Floating point that lies apart, integers that are indices, booleans of both kinds."""
    if array.dtype.names is not None:
        for name in array.dtype.names:
            _fill(array[name], rng)
    elif array.dtype.kind == "b":
        array[...] = rng.random(array.shape) < 0.5
    elif array.dtype.kind in "iu":
        array[...] = rng.integers(0, ELEMENTS, array.shape)
    else:
        fraction = 0.5 if array.size > 1 else rng.random()
        array[...] = apart(rng, array.shape, fraction).astype(array.dtype)
