"""Points at which a function has no slope, or none that formulas give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mpmath as mp
from libdevice_domains import FLOAT
from libdevice_function import (
    Function,
    exactly,
)


def _edge(name: str, code: str, point: Sequence[float], value: float, slopes: Sequence[float], **more: Any) -> Function:  # noqa: ANN401
    """What the slopes are by convention at one point, where the function has none, or none that formulas give."""
    return Function(
        name, code, lambda *_: mp.mpf(value), tuple(map(exactly, point)), lambda *_: slopes, group="edge", **more
    )


_INF, _NAN = math.inf, math.nan
EDGES = (
    _edge("fabs(0)", "fabs{f}(a)", (0.0,), 0.0, (1.0,)),
    _edge("fmax(2, 2)", "fmax{f}(a, b)", (2.0, 2.0), 2.0, (1.0, 0.0)),
    _edge("fmin(2, 2)", "fmin{f}(a, b)", (2.0, 2.0), 2.0, (1.0, 0.0)),
    _edge("max(2, 2)", "max(a, b)", (2.0, 2.0), 2.0, (1.0, 0.0)),
    _edge("std::max(2, 2)", "std::max(a, b)", (2.0, 2.0), 2.0, (1.0, 0.0)),
    _edge("std::min(2, 2)", "std::min(a, b)", (2.0, 2.0), 2.0, (1.0, 0.0)),
    _edge("a > b ? a : b, 2, 2", "a > b ? a : b", (2.0, 2.0), 2.0, (0.0, 1.0)),
    _edge("fmax(NaN, 2)", "fmax{f}(a, b)", (_NAN, 2.0), 2.0, (0.0, 1.0)),
    _edge("fmax(2, NaN)", "fmax{f}(a, b)", (2.0, _NAN), 2.0, (1.0, 0.0)),
    _edge("fmin(NaN, 2)", "fmin{f}(a, b)", (_NAN, 2.0), 2.0, (0.0, 1.0)),
    _edge("fmin(2, NaN)", "fmin{f}(a, b)", (2.0, _NAN), 2.0, (1.0, 0.0)),
    _edge("fdim(2, 2)", "fdim{f}(a, b)", (2.0, 2.0), 0.0, (0.0, 0.0)),
    _edge("__saturatef(0)", "__saturatef(a)", (0.0,), 0.0, (1.0,), precisions=FLOAT),
    _edge("__saturatef(1)", "__saturatef(a)", (1.0,), 1.0, (1.0,), precisions=FLOAT),
    _edge("__saturatef(NaN)", "__saturatef(a)", (_NAN,), 0.0, (0.0,), precisions=FLOAT),
    _edge("copysign(0, -1)", "copysign{f}(a, b)", (0.0, -1.0), 0.0, (-1.0, 0.0)),
    _edge("sqrt(0)", "sqrt{f}(a)", (0.0,), 0.0, (0.0,)),
    _edge("rsqrt(0)", "rsqrt{f}(a)", (0.0,), _INF, (-_INF,)),
    _edge("cbrt(0)", "cbrt{f}(a)", (0.0,), 0.0, (_INF,)),
    _edge("hypot(0, 0)", "hypot{f}(a, b)", (0.0, 0.0), 0.0, (0.0, 0.0)),
    _edge("norm3d(0, 0, 0)", "norm3d{f}(a, b, c)", (0.0, 0.0, 0.0), 0.0, (0.0, 0.0, 0.0)),
    _edge("norm of zeros", "T t[3] = {{a, b, c}}; y = norm{f}(3, t);", (0.0, 0.0, 0.0), 0.0, (0.0, 0.0, 0.0)),
    _edge("atan2(0, 0)", "atan2{f}(a, b)", (0.0, 0.0), 0.0, (0.0, 0.0)),
    _edge("pow(0, 2)", "pow{f}(a, b)", (0.0, 2.0), 0.0, (0.0, 0.0)),
    _edge("pow(0, 1)", "pow{f}(a, b)", (0.0, 1.0), 0.0, (1.0, 0.0)),
    _edge("pow(0, 0)", "pow{f}(a, b)", (0.0, 0.0), 1.0, (0.0, 0.0)),
    _edge("pow(0, 0.5)", "pow{f}(a, b)", (0.0, 0.5), 0.0, (_INF, 0.0)),
    _edge("pow(-2, 3)", "pow{f}(a, b)", (-2.0, 3.0), -8.0, (12.0, _NAN)),
    _edge("pow(-2, 3), exponent fixed", "pow{f}(a, (T)3)", (-2.0,), -8.0, (12.0,)),
    _edge("log(0)", "log{f}(a)", (0.0,), -_INF, (_INF,)),
    _edge("log(-1)", "log{f}(a)", (-1.0,), _NAN, (-1.0,)),
    _edge("sqrt(-1)", "sqrt{f}(a)", (-1.0,), _NAN, (_NAN,)),
    _edge("asin(1)", "asin{f}(a)", (1.0,), math.pi / 2, (_INF,)),
    _edge("acos(-1)", "acos{f}(a)", (-1.0,), math.pi, (-_INF,)),
    _edge("atanh(1)", "atanh{f}(a)", (1.0,), _INF, (_INF,)),
    _edge("acosh(1)", "acosh{f}(a)", (1.0,), 0.0, (_INF,)),
    _edge("erfinv(1)", "erfinv{f}(a)", (1.0,), _INF, (_INF,)),
    _edge("normcdfinv(0)", "normcdfinv{f}(a)", (0.0,), -_INF, (_INF,)),
    _edge("exp(-inf)", "exp{f}(a)", (-_INF,), 0.0, (0.0,)),
    _edge("tanh(inf)", "tanh{f}(a)", (_INF,), 1.0, (0.0,)),
    _edge("atan(inf)", "atan{f}(a)", (_INF,), math.pi / 2, (0.0,)),
    _edge("erf(inf)", "erf{f}(a)", (_INF,), 1.0, (0.0,)),
    _edge("erfc(inf)", "erfc{f}(a)", (_INF,), 0.0, (0.0,)),
    _edge("erfcx(inf)", "erfcx{f}(a)", (_INF,), 0.0, (0.0,)),
    _edge("normcdf(-inf)", "normcdf{f}(a)", (-_INF,), 0.0, (0.0,)),
    _edge("tanh(200)", "tanh{f}(a)", (200.0,), 1.0, (0.0,)),
    _edge("sin(NaN)", "sin{f}(a)", (_NAN,), _NAN, (_NAN,)),
    _edge("exp(NaN)", "exp{f}(a)", (_NAN,), _NAN, (_NAN,)),
    _edge("floor(2)", "floor{f}(a)", (2.0,), 2.0, (0.0,)),
    _edge("round(2.5)", "round{f}(a)", (2.5,), 3.0, (0.0,)),
    _edge("fmod(6, 2)", "fmod{f}(a, b)", (6.0, 2.0), 0.0, (1.0, -3.0)),
    _edge("remainder(3, 2)", "remainder{f}(a, b)", (3.0, 2.0), -1.0, (1.0, -2.0)),
    _edge("lgamma(0)", "lgamma{f}(a)", (0.0,), _INF, (-_INF,)),
    _edge("j1(0)", "j1{f}(a)", (0.0,), 0.0, (0.5,)),
    _edge("cyl_bessel_i1(0)", "cyl_bessel_i1{f}(a)", (0.0,), 0.0, (0.5,)),
    _edge("exp overflows", "exp{f}(a)", (1000.0,), _INF, (_INF,)),
    _edge("frexp(0)", "int e; y = frexp{f}(a, &e);", (0.0,), 0.0, (1.0,)),
)
