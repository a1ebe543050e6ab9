"""Forward mode against reverse mode: <w, J v> and <J^T w, v> are the same number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from enzyme_driver.model import Parameter
from enzyme_driver.runtime.call.layouts import numpy_dtype
from enzyme_driver.runtime.call.members import assembled, flattened, given
from enzyme_driver.runtime.call.slots import written

Array = NDArray[Any]
Arrays = dict[str, Array]


def apart(derivative: Any, launch: tuple[Any, ...] | None, args: dict[str, Any], seed: int) -> float:  # noqa: ANN401
    """How far the two are apart, relative to the size of their terms."""
    rng = np.random.default_rng(seed)
    signature = derivative.signature
    parts = [item for p in signature for item in flattened(p, args[p.name])]
    active = {part.name: (part, value) for part, value in parts if part.has_shadow and value is not None}
    v = {name: _random_like(part, value, rng) for name, (part, value) in active.items()}
    w = {name: _random_like(part, value, rng) for name, (part, value) in active.items() if written(part)}
    jvp, vjp = (each if launch is None else each[launch] for each in (derivative.jvp, derivative.vjp))
    forward = jvp(*args.values(), tangents=_whole(signature, v))
    wrt = [p.name for p in signature.shadowed]
    backward = _parts(signature, vjp(*args.values(), cotangents=_whole(signature, w), wrt=wrt))
    terms = [_products(w[name], forward[name]) for name in w]
    terms += [np.array([forward.get("return", 0.0)])]
    adjoint = [_products(backward[name], v[name]) for name in v]
    one, other = np.concatenate(terms), np.concatenate(adjoint)
    size = max(float(np.linalg.norm(one)), float(np.linalg.norm(other)), 1e-30)
    difference = abs(one.sum() - other.sum()) / size
    return float(difference) if np.isfinite(difference) else float("inf")


def _whole(signature: Any, parts: Arrays) -> dict[str, object]:  # noqa: ANN401
    made = {p.name: assembled(p, parts) for p in signature.shadowed}
    return {name: value for name, value in made.items() if name in parts or value}


def _parts(signature: Any, found: dict[str, Any]) -> dict[str, object]:  # noqa: ANN401
    return {name: value for p in signature.shadowed for name, value in given(p, found[p.name]).items()}


def _random_like(part: Parameter, value: Any, rng: np.random.Generator) -> Array:  # noqa: ANN401
    like = value if isinstance(value, np.ndarray) else np.zeros((), numpy_dtype(part.dtype))
    made = np.zeros_like(like, order="C")
    for numbers in _numbers(made):
        numbers[...] = np.asarray(rng.standard_normal(numbers.shape)).astype(numbers.dtype)
    return made if isinstance(value, np.ndarray) else made[()]


def _products(one: Any, other: Any) -> Array:  # noqa: ANN401
    pairs = zip(_numbers(np.asarray(one)), _numbers(np.asarray(other)), strict=True)
    return np.concatenate([(a.astype(float) * b.astype(float)).ravel() for a, b in pairs])


def _numbers(array: Array) -> list[Array]:
    """Views of all floating-point numbers, of structs too."""
    if array.dtype.names is not None:
        return [part for name in array.dtype.names for part in _numbers(array[name])]
    if array.dtype.kind == "c":
        return [array.real, array.imag]
    return [array] if array.dtype.kind == "f" or array.dtype.name == "bfloat16" else []
