"""Where functions of CUDA's device mathematics are looked at."""

from __future__ import annotations

import mpmath as mp
from libdevice_function import (
    Number,
    Precision,
    between_integers,
    magnitudes,
    mixed,
    signed,
    uniform,
)

REAL = mixed(uniform(-4.0, 4.0), signed(magnitudes(1e-6, 1e4)))
WIDE = signed(magnitudes(1e-15, 1e15, 1e-120, 1e120))
POSITIVE = mixed(uniform(0.1, 4.0), magnitudes(1e-30, 1e30, 1e-200, 1e200))
MODEST = mixed(uniform(-3.0, 3.0), signed(magnitudes(1e-3, 20.0)))
UNIT = mixed(uniform(-1.0, 1.0), signed(magnitudes(1e-6, 0.1)), signed(uniform(0.99, 0.9999)))
FLOAT: tuple[Precision, ...] = ("float32",)
DOUBLE: tuple[Precision, ...] = ("float64",)


def truncated(x: Number) -> Number:
    return mp.floor(x) if x >= 0 else mp.ceil(x)


STEPS = between_integers(-50.0, 50.0)


def split_number(number: Number) -> tuple[Number, int]:
    mantissa, exponent = mp.frexp(number)
    return mantissa, exponent
