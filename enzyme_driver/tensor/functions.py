"""The operators as functions of tensors, with broadcasting, and what is composed of them."""

from __future__ import annotations

import builtins

from enzyme_driver.errors import ArgumentError
from enzyme_driver.tensor import operators, rules
from enzyme_driver.tensor.array import Tensor, applied, tensor

Operand = Tensor | float


def add(a: Operand, b: Operand) -> Tensor:
    return _binary(operators.ADD, a, b)


def subtract(a: Operand, b: Operand) -> Tensor:
    return _binary(operators.SUBTRACT, a, b)


def multiply(a: Operand, b: Operand) -> Tensor:
    return _binary(operators.MULTIPLY, a, b)


def divide(a: Operand, b: Operand) -> Tensor:
    return _binary(operators.DIVIDE, a, b)


def power(a: Operand, b: Operand) -> Tensor:
    """a to the power of b. The derivative by b contains the logarithm of a: where b has a gradient, a is positive."""
    return _binary(operators.POWER, a, b)


def copy(a: Tensor) -> Tensor:
    return applied(operators.COPY, [a])


def negate(a: Tensor) -> Tensor:
    return applied(operators.NEGATE, [a])


def exp(a: Tensor) -> Tensor:
    return applied(operators.EXP, [a])


def log(a: Tensor) -> Tensor:
    return applied(operators.LOG, [a])


def relu(a: Tensor) -> Tensor:
    """max(a, 0); its derivative at 0 is 0."""
    return applied(operators.RELU, [a])


def transpose(a: Tensor) -> Tensor:
    return applied(operators.TRANSPOSE, [a])


def matmul(a: Tensor, b: Tensor, *, by_rule: bool = False) -> Tensor:
    """The product of matrices. Raises ArgumentError where their shapes do not fit.

    `by_rule`: its gradient is two products of matrices, as one writes it by hand, instead of the compiled one. So it is
    always where the device has a precision of its own, to which the factors of those products are rounded too.
    """
    _check_together(a, b)
    if by_rule or rules.rounds(a.device, a.dtype):
        return applied(rules.matmul_by_rule(a.device, a.dtype), [a, b])
    return applied(operators.MATMUL, [a, b])


def sum(a: Tensor, axis: int | None = None) -> Tensor:  # noqa: A001  (NumPy's names)
    """The sum down the rows (axis 0, shape (1, columns)), along the columns (axis 1, shape (rows, 1)) or of all."""
    return _reduced(operators.SUM, a, axis)


def max(a: Tensor, axis: int | None = None) -> Tensor:  # noqa: A001
    """The largest along an axis, as `sum`. The first of equal ones gets the derivative."""
    return _reduced(operators.MAX, a, axis)


def broadcast(a: Tensor, count: int, axis: int) -> Tensor:
    """A row (axis 0) or a column (axis 1) `count` times. Raises ArgumentError where `a` has more than one."""
    if a.shape[_checked(axis)] != 1:
        raise ArgumentError(
            f"the shape {a.shape} has more than one element along axis {axis}", hint="only one can be repeated"
        )
    if count < 1:
        raise ArgumentError(f"{count} is no number of copies", hint="at least 1")
    return applied(operators.broadcast(count, axis), [a])


def log_softmax(a: Tensor) -> Tensor:
    """Of every row: a - max(a) - log(sum(exp(a - max(a)))), which does not overflow."""
    moved = subtract(a, max(a, axis=1))
    return subtract(moved, log(sum(exp(moved), axis=1)))


def negative_log_likelihood(logarithms: Tensor, chosen: Tensor) -> Tensor:
    """The mean over rows of minus the logarithm of the chosen class; `chosen` has a 1 in every row, else 0."""
    return divide(negate(sum(multiply(logarithms, chosen))), float(logarithms.shape[0]))


def _reduced(by_axis: tuple[operators.Operator, operators.Operator], a: Tensor, axis: int | None) -> Tensor:
    if axis is None:
        return _reduced(by_axis, _reduced(by_axis, a, 1), 0)
    return applied(by_axis[_checked(axis)], [a])


def _checked(axis: int) -> int:
    if axis not in {0, 1} or isinstance(axis, bool):
        raise ArgumentError(f"{axis!r} is no axis of a tensor", hint="0 (down the rows) or 1 (along the columns)")
    return axis


def _binary(operator: operators.Operator, a: Operand, b: Operand) -> Tensor:
    known = a if isinstance(a, Tensor) else b
    if not isinstance(known, Tensor):
        raise ArgumentError("neither operand is a tensor", hint="make one with tensor(...)")
    one, other = (_as_tensor(item, known) for item in (a, b))
    _check_together(one, other)
    rows, columns = (_common(one, other, axis) for axis in (0, 1))
    return applied(operator, [_spread(item, rows, columns) for item in (one, other)])


def _as_tensor(item: object, known: Tensor) -> Tensor:
    """On the device and of the dtype of a known one."""
    if isinstance(item, Tensor):
        return item
    if isinstance(item, (int, float)):
        return Tensor(known.device.full(item, known.dtype), known.device)
    return tensor(item, known.device, dtype=known.dtype)


def _check_together(a: Tensor, b: Tensor) -> None:
    if a.device != b.device:
        names: list[str] = [item.device.name for item in (a, b)]
        if names[0] == names[1]:
            names = [f"{item.device.name} ({item.device.precision})" for item in (a, b)]
        raise ArgumentError(f"one tensor is on {names[0]}, the other on {names[1]}", hint="make both on one device")
    if a.dtype != b.dtype:
        raise ArgumentError(f"one tensor holds {a.dtype}, the other {b.dtype}", hint="make both of one dtype")


def _common(a: Tensor, b: Tensor, axis: int) -> int:
    extents = {a.shape[axis], b.shape[axis]}
    if len(extents - {1}) > 1:
        raise ArgumentError(
            f"the shapes {a.shape} and {b.shape} do not fit together", hint="equal extents, or 1, along each axis"
        )
    return builtins.max(extents)


def _spread(a: Tensor, rows: int, columns: int) -> Tensor:
    if a.shape[1] != columns:
        a = broadcast(a, columns, 1)
    return a if a.shape[0] == rows else broadcast(a, rows, 0)
