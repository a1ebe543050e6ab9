"""The adjoint of a matrix product written by hand, as two matrix products, in the precision of the device.

The only one of products on Tensor Cores; of others, to compare the compiled one with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from enzyme_driver.tensor import launches, operators
from enzyme_driver.tensor.application import Application, apply
from enzyme_driver.tensor.devices import Device
from enzyme_driver.tensor.kernels import FORWARD
from enzyme_driver.tensor.operators import Operator
from enzyme_driver.tensor.rounding import rounded

Array = Any


def rounds(device: Device, dtype: np.dtype[Any]) -> bool:
    """Whether products of such numbers are computed in another precision than their own."""
    return device.precision != "float32" and dtype == np.float32


@cache
def matmul_by_rule(device: Device, dtype: np.dtype[Any]) -> Operator:
    return replace(_product(device, dtype), reverse=_matmul_reverse)


@cache
def _product(device: Device, dtype: np.dtype[Any], *, turned_a: bool = False, turned_b: bool = False) -> Operator:
    plain = operators.matmul(turned_a=turned_a, turned_b=turned_b)
    if not rounds(device, dtype):
        return plain
    plain = replace(plain, rounded=partial(rounded, device))
    if device.name != "cuda":
        return plain
    choices = launches.matmul_tensor(4 if device.precision == "tf32" else 2, turned=(turned_a, turned_b))
    return replace(plain, name="matmul_tensor", file=FORWARD, choices=choices)


def _matmul_reverse(applied: Application, cotangent: Array, shadows: Sequence[Array | None]) -> None:
    """With C = A B: the cotangent of A is that of C times B transposed, that of B is A transposed times that of C."""
    a, b = applied.inputs
    device, dtype = applied.device, applied.out.dtype
    if shadows[0] is not None:
        shadows[0][...] += apply(_product(device, dtype, turned_b=True), device, (cotangent, b)).out
    if shadows[1] is not None:
        shadows[1][...] += apply(_product(device, dtype, turned_a=True), device, (a, cotangent)).out


MATMUL_BY_RULE = replace(operators.MATMUL, reverse=_matmul_reverse)
