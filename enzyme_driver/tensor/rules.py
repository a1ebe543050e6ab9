"""The adjoint of a matrix product written by hand, as two matrix products, to compare the compiled one with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from enzyme_driver.tensor.application import Application, apply
from enzyme_driver.tensor.operators import MATMUL, MATMUL_TURNED_A, MATMUL_TURNED_B

Array = Any


def _matmul_reverse(applied: Application, cotangent: Array, shadows: Sequence[Array | None]) -> None:
    """With C = A B: the cotangent of A is that of C times B transposed, that of B is A transposed times that of C."""
    a, b = applied.inputs
    on = applied.device
    if shadows[0] is not None:
        shadows[0][...] += apply(MATMUL_TURNED_B, on, (cotangent, b)).out
    if shadows[1] is not None:
        shadows[1][...] += apply(MATMUL_TURNED_A, on, (a, cotangent)).out


MATMUL_BY_RULE = replace(MATMUL, reverse=_matmul_reverse)
