"""Every function of CUDA's device mathematics.

An entry's code is CUDA: an expression of the arguments a, b, c, d, or statements that set y. In it `T` is the type,
`{f}` the suffix of the float form, and `i` the index of the point, for functions of integers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
from libdevice_domains import FLOAT, MODEST, POSITIVE, REAL, STEPS, UNIT, WIDE, split_number, truncated
from libdevice_edges import EDGES
from libdevice_function import (
    Draw,
    Function,
    Number,
    between_integers,
    exactly,
    magnitudes,
    mixed,
    signed,
    uniform,
    whole,
)
from libdevice_integers import BITS, CONVERSIONS, INTEGER, ROUNDING


def _one(name: str, value: Callable[..., Number], domain: Draw = REAL, **more: Any) -> Function:  # noqa: ANN401
    return Function(name, f"{name}{{f}}(a)", value, (domain,), **more)


def _erfcinv(x: Number) -> Number:
    return mp.erfinv(1 - x)


def _erfcx(x: Number) -> Number:
    return mp.exp(x * x) * mp.erfc(x)


def _root3(x: Number) -> Number:
    return mp.sign(x) * mp.cbrt(abs(x))


ELEMENTARY = (
    _one("sin", mp.sin),
    _one("cos", mp.cos),
    _one("tan", mp.tan),
    _one("asin", mp.asin, UNIT, tolerance=(2e-5, 1e-12)),
    _one("acos", mp.acos, UNIT, tolerance=(2e-5, 1e-12)),
    _one("atan", mp.atan, WIDE),
    _one("sinh", mp.sinh, MODEST),
    _one("cosh", mp.cosh, MODEST),
    _one("tanh", mp.tanh, mixed(uniform(-3.0, 3.0), signed(magnitudes(1e-6, 40.0)))),
    _one("asinh", mp.asinh, WIDE),
    _one("acosh", mp.acosh, mixed(uniform(1.01, 4.0), magnitudes(1.5, 1e15, 1.5, 1e120)), tolerance=(2e-5, 1e-12)),
    _one("atanh", mp.atanh, UNIT, tolerance=(2e-5, 1e-12)),
    _one("exp", mp.exp, mixed(uniform(-80.0, 80.0), MODEST)),
    _one("exp2", lambda x: mp.power(2, x), uniform(-100.0, 100.0)),
    _one("exp10", lambda x: mp.power(10, x), uniform(-30.0, 30.0)),
    _one("expm1", mp.expm1, mixed(uniform(-30.0, 30.0), MODEST)),
    _one("log", mp.log, POSITIVE),
    _one("log2", lambda x: mp.log(x, 2), POSITIVE),
    _one("log10", mp.log10, POSITIVE),
    _one("log1p", mp.log1p, mixed(uniform(-0.95, 4.0), magnitudes(1e-6, 1e15))),
    _one("sqrt", mp.sqrt, POSITIVE),
    _one("rsqrt", lambda x: 1 / mp.sqrt(x), mixed(uniform(0.1, 4.0), magnitudes(1e-20, 1e20, 1e-120, 1e120))),
    _one("cbrt", _root3, WIDE),
    _one("rcbrt", lambda x: 1 / _root3(x), WIDE),
    _one("sinpi", mp.sinpi, mixed(uniform(-4.0, 4.0), signed(magnitudes(1e-6, 300.0)))),
    _one("cospi", mp.cospi, mixed(uniform(-4.0, 4.0), signed(magnitudes(1e-6, 300.0)))),
    Function("sincos", "T s, c; sincos{f}(a, &s, &c); y = s + 3 * c;", lambda x: mp.sin(x) + 3 * mp.cos(x), (REAL,)),
    Function(
        "sincospi",
        "T s, c; sincospi{f}(a, &s, &c); y = s + 3 * c;",
        lambda x: mp.sinpi(x) + 3 * mp.cospi(x),
        (uniform(-50.0, 50.0),),
    ),
    Function("atan2", "atan2{f}(a, b)", mp.atan2, (WIDE, WIDE)),
    Function("pow", "pow{f}(a, b)", mp.power, (magnitudes(1e-4, 1e4), uniform(-8.0, 8.0))),
    Function(
        "pow, negative base",
        "pow{f}(a, rint{f}(b))",
        lambda a, b: mp.power(a, mp.nint(b)),
        (uniform(-4.0, -0.2), whole(-6, 7)),
        slopes=lambda a, b: (b * mp.power(a, b - 1), 0),
    ),
    Function(
        "pow, integer exponent",
        "pow(a, 3) + std::pow(a, -2)",
        lambda a: a**3 + a**-2,
        (signed(magnitudes(0.01, 100.0)),),
    ),
    Function("powi", "powi{f}(a, 5)", lambda a: a**5, (signed(magnitudes(0.01, 100.0)),)),
    Function("hypot", "hypot{f}(a, b)", lambda a, b: mp.sqrt(a * a + b * b), (WIDE, WIDE)),
    Function("rhypot", "rhypot{f}(a, b)", lambda a, b: 1 / mp.sqrt(a * a + b * b), (WIDE, WIDE)),
    Function("fma", "fma{f}(a, b, c)", lambda a, b, c: a * b + c, (REAL, REAL, REAL), lambda a, b, _: (b, a, 1)),
    Function("fdivide", "fdivide{f}(a, b)", lambda a, b: a / b, (REAL, signed(magnitudes(1e-4, 1e4)))),
)


def _norm(*x: Number) -> Number:
    return mp.sqrt(sum(v * v for v in x))


_NORMS_OF_ARGUMENTS = tuple(
    Function(f"{r}norm{n}d", f"{r}norm{n}d{{f}}({', '.join('abcd'[:n])})", value, (WIDE,) * n)
    for n in (3, 4)
    for r, value in (("", _norm), ("r", lambda *x: 1 / _norm(*x)))
)

NORMS = (
    *_NORMS_OF_ARGUMENTS,
    Function("norm", "T t[3] = {{a, b, c}}; y = norm{f}(3, t);", _norm, (WIDE,) * 3),
    Function("rnorm", "T t[3] = {{a, b, c}}; y = rnorm{f}(3, t);", lambda *x: 1 / _norm(*x), (WIDE,) * 3),
)


def _special(name: str, value: Callable[..., Number], domain: Draw, **more: Any) -> Function:  # noqa: ANN401
    return _one(name, value, domain, group="special", **({"tolerance": (2e-5, 1e-12)} | more))


_PROBABILITY = mixed(uniform(0.02, 0.98), magnitudes(1e-20, 0.1), uniform(0.99, 0.9999))
_OSCILLATING = (1e-4, 1e-11)
SPECIAL = (
    _special("erf", mp.erf, mixed(uniform(-3.0, 3.0), signed(magnitudes(1e-6, 8.0)))),
    _special("erfc", mp.erfc, mixed(uniform(-4.0, 8.0), signed(magnitudes(1e-6, 1.0)))),
    _special("erfcx", _erfcx, mixed(uniform(-4.0, 10.0), magnitudes(1e-3, 1e4)), tolerance=(1e-4, 1e-11)),
    _special("erfinv", mp.erfinv, UNIT, tolerance=(1e-4, 1e-11)),
    _special("erfcinv", _erfcinv, mixed(_PROBABILITY, uniform(1.01, 1.999)), tolerance=(1e-4, 1e-11)),
    _special("normcdf", mp.ncdf, mixed(uniform(-8.0, 8.0), signed(magnitudes(1e-6, 1.0)))),
    _special("normcdfinv", lambda p: -mp.sqrt(2) * _erfcinv(2 * p), _PROBABILITY, tolerance=(1e-4, 1e-11)),
    _special(
        "lgamma",
        lambda x: mp.re(mp.loggamma(x)),
        mixed(uniform(0.05, 30.0), magnitudes(1e-4, 1e6), between_integers(-20.0, -1.0)),
        slopes=lambda x: (mp.psi(0, x),),
        tolerance=_OSCILLATING,
    ),
    _special("tgamma", mp.gamma, mixed(uniform(0.05, 30.0), between_integers(-8.0, -1.0)), tolerance=_OSCILLATING),
    _special(
        "j0", lambda x: mp.besselj(0, x), mixed(uniform(-20.0, 20.0), magnitudes(1e-3, 200.0)), tolerance=_OSCILLATING
    ),
    _special(
        "j1", lambda x: mp.besselj(1, x), mixed(uniform(-20.0, 20.0), magnitudes(1e-3, 200.0)), tolerance=_OSCILLATING
    ),
    _special(
        "y0", lambda x: mp.bessely(0, x), mixed(uniform(0.1, 20.0), magnitudes(1e-3, 200.0)), tolerance=_OSCILLATING
    ),
    _special(
        "y1", lambda x: mp.bessely(1, x), mixed(uniform(0.1, 20.0), magnitudes(1e-3, 200.0)), tolerance=_OSCILLATING
    ),
    _special("cyl_bessel_i0", lambda x: mp.besseli(0, x), uniform(-20.0, 20.0)),
    _special("cyl_bessel_i1", lambda x: mp.besseli(1, x), uniform(-20.0, 20.0)),
)

ORDERS = tuple(
    Function(
        f"{kind}n({order})",
        f"{kind}n{{f}}({order}, a)",
        lambda x, function=function, order=order: function(order, x),
        (uniform(0.5, 20.0) if kind == "y" else uniform(-20.0, 20.0),),
        group="special",
        tolerance=(5e-4, 1e-10),
    )
    for kind, function in (("j", mp.besselj), ("y", mp.bessely))
    for order in (0, 1, 2, 5)
)


_APART = uniform(-4.0, 4.0)


def _step(name: str, value: Callable[[Number], Number], **more: Any) -> Function:  # noqa: ANN401
    return Function(name, f"{name}{{f}}(a)", value, (STEPS,), lambda _: (0,), group="piecewise", **more)


PIECEWISE = (
    Function("fabs", "fabs{f}(a)", abs, (REAL,), lambda a: (mp.sign(a),), group="piecewise", note="0 at 0"),
    Function(
        "abs", "abs(a) + std::abs(a)", lambda a: 2 * abs(a), (REAL,), lambda a: (2 * mp.sign(a),), group="piecewise"
    ),
    Function("fmax", "fmax{f}(a, b)", max, (_APART, _APART), lambda a, b: (a > b, a <= b), group="piecewise"),
    Function("fmin", "fmin{f}(a, b)", min, (_APART, _APART), lambda a, b: (a < b, a >= b), group="piecewise"),
    Function(
        "max",
        "max(a, b) + std::max(a, b)",
        lambda a, b: 2 * max(a, b),
        (_APART, _APART),
        lambda a, b: (2 * (a > b), 2 * (a <= b)),
        group="piecewise",
    ),
    Function(
        "min",
        "min(a, b) + std::min(a, b)",
        lambda a, b: 2 * min(a, b),
        (_APART, _APART),
        lambda a, b: (2 * (a < b), 2 * (a >= b)),
        group="piecewise",
    ),
    Function(
        "fdim",
        "fdim{f}(a, b)",
        lambda a, b: max(a - b, 0),
        (_APART, _APART),
        lambda a, b: (a > b, -(a > b)),
        group="piecewise",
    ),
    Function(
        "copysign",
        "copysign{f}(a, b)",
        lambda a, b: abs(a) * mp.sign(b),
        (REAL, REAL),
        lambda a, b: (mp.sign(a) * mp.sign(b), 0),
        group="piecewise",
    ),
    Function("nextafter", "nextafter{f}(a, b)", lambda a, _: a, (REAL, REAL), lambda *_: (1, 0), group="piecewise"),
    Function(
        "fmod",
        "fmod{f}(a, b)",
        lambda a, b: a - b * truncated(a / b),
        (between_integers(-40.0, 40.0), exactly(0.5, -0.5, 1.0, -1.0, 2.0)),
        lambda a, b: (1, -truncated(a / b)),
        group="piecewise",
    ),
    Function(
        "remainder",
        "remainder{f}(a, b)",
        lambda a, b: a - b * mp.nint(a / b),
        (between_integers(-40.0, 40.0), exactly(1.0, -1.0)),
        lambda a, b: (1, -mp.nint(a / b)),
        group="piecewise",
    ),
    Function(
        "remquo",
        "int q; T r = remquo{f}(a, b, &q); y = r + a * (q & 7);",
        lambda a, b: a - b * mp.nint(a / b) + a * (int(mp.nint(a / b)) & 7),
        (between_integers(1.0, 40.0), exactly(1.0)),
        lambda a, b: (1 + (int(mp.nint(a / b)) & 7), -mp.nint(a / b)),
        group="piecewise",
    ),
    Function(
        "modf",
        "T whole; T part = modf{f}(a, &whole); y = part * part + whole;",
        lambda a: (a - truncated(a)) ** 2 + truncated(a),
        (STEPS,),
        lambda a: (2 * (a - truncated(a)),),
        group="piecewise",
    ),
    Function(
        "frexp",
        "int e; T m = frexp{f}(a, &e); y = m + a * e;",
        lambda a: split_number(a)[0] + a * split_number(a)[1],
        (WIDE,),
        lambda a: (mp.power(2, -split_number(a)[1]) + split_number(a)[1],),
        group="piecewise",
    ),
    Function("ldexp", "ldexp{f}(a, 5)", lambda a: 32 * a, (WIDE,), lambda _: (32,), group="piecewise"),
    Function(
        "ldexp, downwards", "ldexp{f}(a, -20)", lambda a: a / 2**20, (REAL,), lambda _: (2.0**-20,), group="piecewise"
    ),
    Function("scalbn", "scalbn{f}(a, -3)", lambda a: a / 8, (WIDE,), lambda _: (0.125,), group="piecewise"),
    Function("scalbln", "scalbln{f}(a, 4L)", lambda a: 16 * a, (WIDE,), lambda _: (16,), group="piecewise"),
    _step("floor", mp.floor),
    _step("ceil", mp.ceil),
    _step("trunc", truncated),
    _step("round", mp.nint),
    _step("rint", mp.nint),
    _step("nearbyint", mp.nint),
    Function("logb", "logb{f}(a)", lambda a: split_number(a)[1] - 1, (WIDE,), lambda _: (0,), group="piecewise"),
    Function(
        "ilogb",
        "a * ilogb{f}(a)",
        lambda a: a * (split_number(a)[1] - 1),
        (WIDE,),
        lambda a: (split_number(a)[1] - 1,),
        group="piecewise",
    ),
    *(
        Function(
            name,
            f"a * (T){name}{{f}}(a)",
            lambda a: a * mp.nint(a),
            (STEPS,),
            lambda a: (mp.nint(a),),
            group="piecewise",
        )
        for name in ("lrint", "llrint", "lround", "llround")
    ),
    Function(
        "isnan, isinf, isfinite",
        "isnan(a) || isinf(a) || !isfinite(a) ? 7 * a : a * a",
        lambda a: a * a,
        (REAL,),
        group="piecewise",
    ),
    Function(
        "signbit",
        "signbit(a) ? 2 * a : 3 * a",
        lambda a: (2 if a < 0 else 3) * a,
        (REAL,),
        lambda a: (2 if a < 0 else 3,),
        group="piecewise",
    ),
    Function(
        "fmod of a sum",
        "fmod{f}(a + b, (T)1)",
        lambda a, b: a + b - truncated(a + b),
        (uniform(0.1, 0.4), whole(0, 5)),
        lambda *_: (1, 1),
        group="piecewise",
    ),
)


def _fast(name: str, value: Callable[..., Number], domain: Draw, tolerance: float = 1e-4, **more: Any) -> Function:  # noqa: ANN401
    return Function(
        name, f"{name}(a)", value, (domain,), precisions=FLOAT, group="fast", tolerance=(tolerance, 0), **more
    )


FAST = (
    _fast("__sinf", mp.sin, uniform(-3.0, 3.0)),
    _fast("__cosf", mp.cos, uniform(-3.0, 3.0)),
    _fast("__tanf", mp.tan, uniform(-1.4, 1.4)),
    _fast("__expf", mp.exp, uniform(-10.0, 10.0)),
    _fast("__exp10f", lambda x: mp.power(10, x), uniform(-5.0, 5.0)),
    _fast("__logf", mp.log, magnitudes(1e-3, 1e3)),
    _fast("__log2f", lambda x: mp.log(x, 2), magnitudes(1e-3, 1e3)),
    _fast("__log10f", mp.log10, magnitudes(1e-3, 1e3)),
    _fast("__saturatef", lambda x: min(max(x, 0), 1), uniform(-1.0, 2.0), slopes=lambda x: (0 < x < 1,)),
    _fast("__frsqrt_rn", lambda x: 1 / mp.sqrt(x), magnitudes(1e-4, 1e4)),
    Function(
        "__powf",
        "__powf(a, b)",
        mp.power,
        (magnitudes(0.1, 10.0), uniform(-3.0, 3.0)),
        precisions=FLOAT,
        group="fast",
        tolerance=(1e-4, 0),
    ),
    Function(
        "__fdividef",
        "__fdividef(a, b)",
        lambda a, b: a / b,
        (REAL, signed(magnitudes(1e-4, 1e4))),
        precisions=FLOAT,
        group="fast",
    ),
    Function(
        "__sincosf",
        "float s, c; __sincosf(a, &s, &c); y = s + 3 * c;",
        lambda x: mp.sin(x) + 3 * mp.cos(x),
        (uniform(-3.0, 3.0),),
        precisions=FLOAT,
        group="fast",
        tolerance=(1e-4, 0),
    ),
)

_ORDINARY = (*ELEMENTARY, *NORMS, *SPECIAL, *ORDERS, *PIECEWISE, *FAST, *ROUNDING, *CONVERSIONS, *BITS, *INTEGER)
FUNCTIONS: tuple[Function, ...] = (*_ORDINARY, *EDGES)
