"""The tensor operators on a device, against NumPy and finite differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from enzyme_driver import tensor as ad
from enzyme_driver.tensor import operators
from enzyme_driver.tensor.application import Application, apply
from enzyme_driver.tensor.devices import Name
from enzyme_driver.tensor.kernels import READ_ONCE

Array = np.ndarray[Any, np.dtype[Any]]

STEP = 1e-6
OPERATORS: dict[str, tuple[Callable[..., ad.Tensor], Callable[..., Array], str]] = {
    "add": (ad.add, np.add, "two"),
    "subtract": (ad.subtract, np.subtract, "two"),
    "multiply": (ad.multiply, np.multiply, "two"),
    "divide": (ad.divide, np.divide, "two"),
    "power": (ad.power, np.power, "two"),
    "copy": (ad.copy, np.copy, "one"),
    "negate": (ad.negate, np.negative, "one"),
    "exp": (ad.exp, np.exp, "one"),
    "log": (ad.log, np.log, "one"),
    "relu": (lambda a: ad.relu(a - 1.0), lambda a: np.maximum(a - 1, 0), "one"),
    "transpose": (ad.transpose, np.transpose, "one"),
    "sum rows": (lambda a: ad.sum(a, 0), lambda a: a.sum(0, keepdims=True), "one"),
    "sum columns": (lambda a: ad.sum(a, 1), lambda a: a.sum(1, keepdims=True), "one"),
    "max rows": (lambda a: ad.max(a, 0), lambda a: a.max(0, keepdims=True), "one"),
    "max columns": (lambda a: ad.max(a, 1), lambda a: a.max(1, keepdims=True), "one"),
    "broadcast row": (lambda a: ad.broadcast(ad.sum(a, 0), 5, 0), lambda a: np.tile(a.sum(0), (5, 1)), "one"),
    "broadcast column": (lambda a: ad.broadcast(ad.sum(a, 1), 70, 1), lambda a: np.tile(a.sum(1), (70, 1)).T, "one"),
    "matmul": (ad.matmul, np.matmul, "product"),
    "matmul by rule": (lambda a, b: ad.matmul(a, b, by_rule=True), np.matmul, "product"),
}
"""By name: on tensors, on arrays, and what it takes."""

WRITE_SHADOWS = {item.name: item for item in operators.ALL if item.file in READ_ONCE}
"""The operators whose gradients write whole shadows."""


ADDED = {"add": ("a", "b"), "copy": ("a",), "subtract": ("a",)}
"""The inputs of operators that are only added to the result."""


def drawn(form: str, rows: int, columns: int, depth: int, rng: np.random.Generator) -> list[Array]:
    """Positive numbers, all of them far enough apart for finite differences of a maximum."""
    shapes = {"one": [(rows, columns)], "two": [(rows, columns)] * 2, "product": [(rows, depth), (depth, columns)]}[
        form
    ]
    return [rng.permutation(np.linspace(0.5, 1.999, r * c)).reshape(r, c) for r, c in shapes]


def check_operator(device: Name, name: str, rows: int, columns: int, depth: int, seed: int) -> None:
    """Value and gradient on random numbers."""
    on_tensors, on_arrays, form = OPERATORS[name]
    rng, on = np.random.default_rng(seed), ad.Device(device)
    values = drawn(form, rows, columns, depth, rng)
    inputs = [ad.tensor(value, on, requires_grad=True) for value in values]
    result = on_tensors(*inputs)
    np.testing.assert_allclose(result.numpy(), on_arrays(*values), rtol=1e-12, atol=1e-12)
    weights = rng.standard_normal(result.shape)
    result.backward(weights)
    for at, tensor in enumerate(inputs):
        direction = rng.standard_normal(tensor.shape)
        ahead, behind = ([*values[:at], values[at] + s * STEP * direction, *values[at + 1 :]] for s in (1, -1))
        expected = (weights * (on_arrays(*ahead) - on_arrays(*behind))).sum() / (2 * STEP)
        scale = np.linalg.norm(weights) * np.linalg.norm(direction) * depth
        assert abs((on.to_host(tensor.grad) * direction).sum() - expected) <= 1e-7 * scale


def check_whole_shadows(device: Name, name: str, rows: int, columns: int, seed: int) -> None:
    """The gradient is the same whatever its shadows held."""
    operator, on = WRITE_SHADOWS[name], ad.Device(device)
    rng = np.random.default_rng(seed)
    applied = apply(
        operator, on, tuple(on.from_host(rng.uniform(-1, 2, (rows, columns)), "float64") for _ in operator.inputs)
    )
    cotangent = on.from_host(rng.standard_normal((rows, columns)), "float64")
    shadows, zeros = ([on.arrays.full((rows, columns), held) for _ in operator.inputs] for held in (7.0, 0.0))
    applied.backward(cotangent.copy(), shadows)
    applied.backward(cotangent.copy(), zeros)
    for shadow, other in zip(shadows, zeros, strict=True):
        np.testing.assert_array_equal(on.to_host(shadow), on.to_host(other))
    for wanted in itertools.product((False, True), repeat=len(shadows)) if name in {*ADDED, "multiply"} else ():
        check_handed_on(applied, name, wanted, cotangent)


def check_handed_on(applied: Application, name: str, wanted: tuple[bool, ...], cotangent: Array) -> None:
    """What is handed on is what the compiled gradient computes, and that of the other inputs leaves the cotangent."""
    handed, on = applied.handed_on(wanted), applied.device
    added = [asked and item in ADDED.get(name, ()) for item, asked in zip(applied.operator.inputs, wanted, strict=True)]
    nothing = [False] * len(added)  # where a launch may have threads that share an element's cotangent, who take it
    assert handed == added if list(wanted) == added else handed in (added, nothing)
    shadows = [on.arrays.zeros_like(cotangent) if asked else None for asked in wanted]
    if not any(wanted):
        return
    applied.backward(cotangent.copy(), shadows)
    for shadow, passed in zip(shadows, handed, strict=True):
        if passed:
            np.testing.assert_array_equal(on.to_host(shadow), on.to_host(cotangent))
    if applied.keeps_cotangent(wanted):
        kept = cotangent.copy()
        applied.backward(kept, shadows)
        np.testing.assert_array_equal(on.to_host(kept), on.to_host(cotangent))
