"""The operators: which kernel takes which arrays, what comes out, and in which launches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from enzyme_driver.errors import ArgumentError
from enzyme_driver.tensor import launches
from enzyme_driver.tensor.launches import Choices

Shape = tuple[int, int]


@dataclass(frozen=True)
class Operator:
    """A kernel of `file` with the arrays `inputs`, then `out`, then extents.

    `extents` and `result` follow from the shapes of the inputs (ArgumentError where these do not fit). `reverse` is an
    adjoint written by hand, called like `Application.backward`; None: the compiler's. `rounded` gives what the kernel
    takes for an input, of another type than the result.
    """

    name: str
    file: str
    inputs: tuple[str, ...]
    choices: Choices
    extents: Callable[..., tuple[int, ...]]
    result: Callable[..., Shape]
    reverse: Callable[..., None] | None = None
    rounded: Callable[[Any], Any] | None = None


def _count(*shapes: Shape) -> tuple[int]:
    return (shapes[0][0] * shapes[0][1],)


def _same(*shapes: Shape) -> Shape:
    if len(set(shapes)) > 1:
        raise ArgumentError(f"the shapes {shapes[0]} and {shapes[1]} differ", hint="broadcast them first")
    return shapes[0]


def _unary(name: str, kernel: str | None = None) -> Operator:
    return Operator(name, f"{name}.cu", ("a",), launches.elementwise(kernel or name), _count, _same)


def _binary(name: str) -> Operator:
    return Operator(name, f"{name}.cu", ("a", "b"), launches.elementwise(name), _count, _same)


@cache
def matmul(*, turned_a: bool = False, turned_b: bool = False) -> Operator:
    """The product of matrices; an operand that is turned lies in memory transposed."""

    def extents(a: Shape, b: Shape) -> tuple[int, ...]:
        (rows, depth), (other, columns) = a[:: -1 if turned_a else 1], b[:: -1 if turned_b else 1]
        if depth != other:
            raise ArgumentError(
                f"matrices of the shapes {a} and {b} have no product", hint="columns of the first = rows of the second"
            )
        return rows, columns, depth

    def result(a: Shape, b: Shape) -> Shape:
        rows, columns, _ = extents(a, b)
        return rows, columns

    return Operator("matmul", "matmul.cu", ("a", "b"), launches.matmul(turned=(turned_a, turned_b)), extents, result)


ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER = map(_binary, ("add", "subtract", "multiply", "divide", "power"))
COPY, NEGATE, RELU = map(_unary, ("copy", "negate", "relu"))
EXP, LOG = _unary("exp", "exponential"), _unary("log", "logarithm")
TRANSPOSE = Operator("transpose", "transpose.cu", ("a",), launches.transpose, lambda a: a, lambda a: (a[1], a[0]))
MATMUL = matmul()
MATMUL_TURNED_A, MATMUL_TURNED_B = matmul(turned_a=True), matmul(turned_b=True)
"""With an operand that lies in memory transposed."""
SUM = (
    Operator("sum", "sum.cu", ("a",), launches.down_rows("sum_rows"), lambda a: a, lambda a: (1, a[1])),
    Operator("sum", "sum.cu", ("a",), launches.along_columns("sum_columns"), lambda a: a, lambda a: (a[0], 1)),
)
"""By axis."""
MAX = (
    Operator("max", "max.cu", ("a",), launches.down_rows("max_rows"), lambda a: a, lambda a: (1, a[1])),
    Operator("max", "max.cu", ("a",), launches.along_columns("max_columns"), lambda a: a, lambda a: (a[0], 1)),
)


@cache
def broadcast(count: int, axis: int) -> Operator:
    """One row (axis 0) or one column (axis 1) `count` times."""
    choices = (launches.repeat_row, launches.repeat_column)[axis]

    def result(a: Shape) -> Shape:
        return (count, a[1]) if axis == 0 else (a[0], count)

    return Operator("broadcast", "broadcast.cu", ("a",), choices, result, result)


ALL = (
    *(ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, COPY, NEGATE, RELU, EXP, LOG, TRANSPOSE, MATMUL),
    *(*SUM, *MAX, broadcast(1, 0), broadcast(1, 1)),
)
"""One of every kind."""


def kernels(operator: Operator) -> tuple[str, ...]:
    """The kernels that the operator may launch, as templates."""
    extents = operator.extents(*[(1, 1)] * len(operator.inputs))
    return tuple(dict.fromkeys(launch.template for launch in operator.choices(True, extents)))
