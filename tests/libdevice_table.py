"""Every function of CUDA's device mathematics.

An entry's code is CUDA: an expression of the arguments a, b, c, d, or statements that set y. In it `T` is the type,
`{f}` the suffix of the float form, and `i` the index of the point, for functions of integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
from libdevice_function import (
    Draw,
    Function,
    Number,
    Precision,
    Slopes,
    between_integers,
    exactly,
    magnitudes,
    mixed,
    signed,
    uniform,
    whole,
)

REAL = mixed(uniform(-4.0, 4.0), signed(magnitudes(1e-6, 1e4)))
WIDE = signed(magnitudes(1e-15, 1e15, 1e-120, 1e120))
POSITIVE = mixed(uniform(0.1, 4.0), magnitudes(1e-30, 1e30, 1e-200, 1e200))
MODEST = mixed(uniform(-3.0, 3.0), signed(magnitudes(1e-3, 20.0)))
UNIT = mixed(uniform(-1.0, 1.0), signed(magnitudes(1e-6, 0.1)), signed(uniform(0.99, 0.9999)))
FLOAT: tuple[Precision, ...] = ("float32",)
DOUBLE: tuple[Precision, ...] = ("float64",)


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


def _toward(x: Number, y: Number) -> Number:
    return mp.sign(x) * mp.floor(abs(x)) if y is None else y


def _truncated(x: Number) -> Number:
    return mp.floor(x) if x >= 0 else mp.ceil(x)


_STEPS = between_integers(-50.0, 50.0)
_APART = uniform(-4.0, 4.0)


def _step(name: str, value: Callable[[Number], Number], **more: Any) -> Function:  # noqa: ANN401
    return Function(name, f"{name}{{f}}(a)", value, (_STEPS,), lambda _: (0,), group="piecewise", **more)


def _split(number: Number) -> tuple[Number, int]:
    mantissa, exponent = mp.frexp(number)
    return mantissa, exponent


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
        lambda a, b: a - b * _truncated(a / b),
        (between_integers(-40.0, 40.0), exactly(0.5, -0.5, 1.0, -1.0, 2.0)),
        lambda a, b: (1, -_truncated(a / b)),
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
        lambda a: (a - _truncated(a)) ** 2 + _truncated(a),
        (_STEPS,),
        lambda a: (2 * (a - _truncated(a)),),
        group="piecewise",
    ),
    Function(
        "frexp",
        "int e; T m = frexp{f}(a, &e); y = m + a * e;",
        lambda a: _split(a)[0] + a * _split(a)[1],
        (WIDE,),
        lambda a: (mp.power(2, -_split(a)[1]) + _split(a)[1],),
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
    _step("trunc", _truncated),
    _step("round", mp.nint),
    _step("rint", mp.nint),
    _step("nearbyint", mp.nint),
    Function("logb", "logb{f}(a)", lambda a: _split(a)[1] - 1, (WIDE,), lambda _: (0,), group="piecewise"),
    Function(
        "ilogb",
        "a * ilogb{f}(a)",
        lambda a: a * (_split(a)[1] - 1),
        (WIDE,),
        lambda a: (_split(a)[1] - 1,),
        group="piecewise",
    ),
    *(
        Function(
            name,
            f"a * (T){name}{{f}}(a)",
            lambda a: a * mp.nint(a),
            (_STEPS,),
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
        lambda a, b: a + b - _truncated(a + b),
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

_ROUNDINGS = ("rn", "rz", "rd", "ru")
_NONZERO = signed(magnitudes(1e-4, 1e4))


def _rounded(letter: str, precisions: tuple[Precision, ...]) -> list[Function]:
    binary = {
        "add": (lambda a, b: a + b, lambda *_: (1, 1)),
        "sub": (lambda a, b: a - b, lambda *_: (1, -1)),
        "mul": (lambda a, b: a * b, lambda a, b: (b, a)),
        "div": (lambda a, b: a / b, lambda a, b: (1 / b, -a / b**2)),
    }
    unary = {
        "rcp": (lambda a: 1 / a, lambda a: (-1 / a**2,), _NONZERO),
        "sqrt": (mp.sqrt, lambda a: (1 / (2 * mp.sqrt(a)),), magnitudes(1e-6, 1e6)),
    }
    made = []
    for mode in _ROUNDINGS:
        for operation, (value, slopes) in binary.items():
            name = f"__{letter}{operation}_{mode}"
            made.append(Function(name, f"{name}(a, b)", value, (_NONZERO, _NONZERO), slopes, precisions, "rounding"))
        for operation, (of_one, slope, domain) in unary.items():
            name = f"__{letter}{operation}_{mode}"
            made.append(Function(name, f"{name}(a)", of_one, (domain,), slope, precisions, "rounding"))
        names = [f"__fma_{mode}"] if letter == "d" else [f"__fmaf_{mode}", f"__fmaf_ieee_{mode}"]
        made += [
            Function(
                name,
                f"{name}(a, b, c)",
                lambda a, b, c: a * b + c,
                (_NONZERO,) * 3,
                lambda a, b, _: (b, a, 1),
                precisions,
                "rounding",
            )
            for name in names
        ]
    return made


ROUNDING = (*_rounded("f", FLOAT), *_rounded("d", DOUBLE))


def _times(
    name: str, integer: Callable[[Number], Number], precisions: tuple[Precision, ...], domain: Draw = _STEPS
) -> Function:
    """a times what a conversion to an integer makes of it: the integer is a constant to the derivative."""
    return Function(
        name,
        f"a * (T){name}(a)",
        lambda a: a * integer(a),
        (domain,),
        lambda a: (integer(a),),
        precisions,
        "conversion",
    )


_INTEGER_ROUNDING = {"rn": mp.nint, "rz": _truncated, "rd": mp.floor, "ru": mp.ceil}

CONVERSIONS = (
    *(
        _times(f"__{source}2{kind}_{mode}", value, precision, between_integers(1.0, 50.0))
        for source, precision in (("float", FLOAT), ("double", DOUBLE))
        for kind in ("int", "uint", "ll", "ull")
        for mode, value in _INTEGER_ROUNDING.items()
    ),
    *(
        Function(
            f"__double2float_{mode}",
            f"__double2float_{mode}(a)",
            lambda a: a,
            (REAL,),
            lambda _: (1,),
            DOUBLE,
            "conversion",
            tolerance=(1e-6, 1e-6),
        )
        for mode in _ROUNDINGS
    ),
    Function(
        "half and back",
        "__half2float(__float2half_rn(a))",
        lambda a: a,
        (MODEST,),
        lambda _: (1,),
        FLOAT,
        "half",
        tolerance=(1e-3, 0),
    ),
)


def _bits(
    name: str, code: str, value: Callable[..., Number], slopes: Slopes, count: int = 1, tolerance: float = 1e-6
) -> Function:
    """What is done to the bits of a number must have the right derivative, or be refused."""
    precisions = DOUBLE if "hiint(a" in code or "longlong" in code else FLOAT
    domains = (uniform(0.5, 4.0),) * count
    return Function(name, code, value, domains, slopes, precisions, "bits", tolerance=(tolerance, tolerance))


def _same(*arguments: Number) -> Number:
    return sum(arguments)


def _ones(*arguments: Number) -> Sequence[Number]:
    return [1] * len(arguments)


def _larger(a: Number, b: Number) -> Sequence[Number]:
    return (a > b, a <= b)


BITS = (
    _bits("int", "__int_as_float(__float_as_int(a))", _same, _ones),
    _bits("unsigned", "__uint_as_float(__float_as_uint(a))", _same, _ones),
    _bits("long long", "__longlong_as_double(__double_as_longlong(a))", _same, _ones),
    _bits("two words", "__hiloint2double(__double2hiint(a), __double2loint(a))", _same, _ones),
    _bits("sign flipped", "__int_as_float(__float_as_int(a) ^ 0x80000000)", lambda a: -a, lambda _: (-1,)),
    _bits("sign cleared", "__int_as_float(__float_as_int(-a) & 0x7fffffff)", _same, _ones),
    _bits("sign set", "__int_as_float(__float_as_int(a) | 0x80000000)", lambda a: -a, lambda _: (-1,)),
    _bits(
        "sign of the high word flipped",
        "__hiloint2double(__double2hiint(a) ^ 0x80000000, __double2loint(a))",
        lambda a: -a,
        lambda _: (-1,),
    ),
    _bits(
        "sign of the high word cleared",
        "__hiloint2double(__double2hiint(-a) & 0x7fffffff, __double2loint(-a))",
        _same,
        _ones,
    ),
    _bits("high word alone", "__hiloint2double(__double2hiint(a), 0)", _same, _ones, tolerance=1e-5),
    _bits(
        "exponent of the high word raised",
        "__hiloint2double(__double2hiint(a) + (3 << 20), __double2loint(a))",
        lambda a: 8 * a,
        lambda _: (8,),
    ),
    _bits("exponent raised", "__int_as_float(__float_as_int(a) + (3 << 23))", lambda a: 8 * a, lambda _: (8,)),
    _bits(
        "power of two made",
        "a * __int_as_float((127 + (int)rintf(b)) << 23)",
        lambda a, b: a * 2 ** int(mp.nint(b)),
        lambda _, b: (2 ** int(mp.nint(b)), 0),
        2,
    ),
    _bits(
        "mantissa taken",
        "__int_as_float((__float_as_int(a) & 0x007fffff) | 0x3f800000)",
        lambda a: a / mp.mpf(2) ** (_split(a)[1] - 1),
        lambda a: (mp.mpf(2) ** (1 - _split(a)[1]),),
    ),
    _bits(
        "inverse square root",
        "float r = __int_as_float(0x5f3759df - (__float_as_int(a) >> 1)); y = r * (1.5f - 0.5f * a * r * r);",
        lambda a: 1 / mp.sqrt(a),
        lambda a: (-(a ** mp.mpf(-1.5)) / 2,),
        tolerance=1e-2,
    ),
    _bits("last bit", "__int_as_float(__float_as_int(a) ^ 1)", _same, _ones),
    _bits(
        "rounded to bfloat16", "__uint_as_float((__float_as_uint(a) + 0x8000u) & 0xffff0000u)", _same, _ones, 1, 1e-2
    ),
    _bits("cut to tf32", "__uint_as_float(__float_as_uint(a) & 0xffffe000u)", _same, _ones, tolerance=1e-2),
    _bits("integer maximum", "__int_as_float(max(__float_as_int(a), __float_as_int(b)))", max, _larger, 2),
    _bits(
        "integer choice",
        "int p = __float_as_int(a), q = __float_as_int(b); y = __int_as_float(p > q ? p : q);",
        max,
        _larger,
        2,
    ),
    _bits("bytes permuted", "__uint_as_float(__byte_perm(__float_as_uint(a), 0, 0x3210))", _same, _ones),
    _bits(
        "bits reversed twice",
        "unsigned u = __brev(__float_as_uint(a)); if (i < 0) u = 0; y = __uint_as_float(__brev(u));",
        _same,
        _ones,
    ),
    _bits(
        "shifted",
        "unsigned u = __float_as_uint(a); y = __uint_as_float(((u >> 16) << 16) | (u & 0xffff));",
        _same,
        _ones,
    ),
    _bits(
        "rotated",
        "unsigned u = __float_as_uint(a); u = (u << 8) | (u >> 24); y = __uint_as_float((u >> 8) | (u << 24));",
        _same,
        _ones,
    ),
    _bits(
        "two in a long long",
        "unsigned long long w = ((unsigned long long)__float_as_uint(a) << 32) | __float_as_uint(b); "
        "y = __uint_as_float((unsigned)(w >> 32)) + __uint_as_float((unsigned)w);",
        _same,
        _ones,
        2,
    ),
    _bits(
        "two in a double",
        "double w = __hiloint2double(__float_as_int(a), __float_as_int(b)); "
        "y = __int_as_float(__double2hiint(w)) + __int_as_float(__double2loint(w));",
        _same,
        _ones,
        2,
    ),
    _bits(
        "float2 as double",
        "float2 p = make_float2(a, b); double d = *(double *)&p; float2 q = *(float2 *)&d; y = q.x + q.y;",
        _same,
        _ones,
        2,
    ),
    _bits(
        "memcpy", "unsigned u; memcpy(&u, &a, 4); u ^= 0x80000000u; memcpy(&y, &u, 4);", lambda a: -a, lambda _: (-1,)
    ),
    _bits("bits as a number", "a + 0 * (float)__float_as_int(a)", _same, _ones),
    _bits("loaded as int", "__int_as_float(((const int *)as)[i])", _same, _ones),
    _bits("stored as int", "*(int *)&ys[i] = __float_as_int(a); return; y = a;", _same, _ones),
)


def _reversed_bits(x: int, width: int) -> int:
    return int(f"{x:0{width}b}"[::-1], 2)


def _integer(name: str, code: str, value: Callable[[int], int]) -> Function:
    return Function(
        name,
        f"a * (T)({code})",
        lambda a, i: a * value(i),
        (uniform(0.5, 2.0),),
        lambda _, i: (value(i),),
        group="integer",
    )


_BIG = 123456789

INTEGER = (
    _integer("__clz", "__clz(i + 1)", lambda i: 32 - (i + 1).bit_length()),
    _integer("__clzll", "__clzll(i + 1LL)", lambda i: 64 - (i + 1).bit_length()),
    _integer("__popc", f"__popc({_BIG}u + i)", lambda i: (_BIG + i).bit_count()),
    _integer("__popcll", f"__popcll({_BIG}ull + i)", lambda i: (_BIG + i).bit_count()),
    _integer("__brev", "__brev(i)", lambda i: _reversed_bits(i, 32)),
    _integer("__brevll", "__brevll(i)", lambda i: _reversed_bits(i, 64)),
    _integer("__ffs", "__ffs(i)", lambda i: (i & -i).bit_length()),
    _integer("__ffsll", "__ffsll((long long)i)", lambda i: (i & -i).bit_length()),
    _integer("__mulhi", f"__mulhi({_BIG}, -i * 1000)", lambda i: (_BIG * -i * 1000) >> 32),
    _integer("__umulhi", f"__umulhi({_BIG}u, i * 1000u)", lambda i: (_BIG * i * 1000) >> 32),
    _integer("__mul64hi", f"__mul64hi({_BIG}LL << 32, -i * 1000LL)", lambda i: ((_BIG << 32) * -i * 1000) >> 64),
    _integer("__umul64hi", f"__umul64hi({_BIG}ull << 32, i * 1000ull)", lambda i: ((_BIG << 32) * i * 1000) >> 64),
    _integer("__mul24", "__mul24(i, -77)", lambda i: -77 * i),
    _integer("__umul24", "__umul24(i, 77)", lambda i: 77 * i),
    _integer("__sad", "__sad(i, 20, 5u)", lambda i: abs(i - 20) + 5),
    _integer("__usad", "__usad(i, 20u, 5u)", lambda i: abs(i - 20) + 5),
    _integer(
        "__byte_perm",
        "__byte_perm(i, 0x01020304, 0x4140)",
        lambda i: int.from_bytes(bytes([i & 255, 4, (i >> 8) & 255, 4]), "little"),
    ),
    _integer("__hadd", "__hadd(i, 7)", lambda i: (i + 7) >> 1),
    _integer("__rhadd", "__rhadd(i, 7)", lambda i: (i + 8) >> 1),
    _integer("__uhadd", "__uhadd(i, 7u)", lambda i: (i + 7) >> 1),
    _integer("__urhadd", "__urhadd(i, 7u)", lambda i: (i + 8) >> 1),
    _integer(
        "min, max, abs of int", "min(i, 9) + max(i, 11) + abs(3 - i)", lambda i: min(i, 9) + max(i, 11) + abs(3 - i)
    ),
    _integer(
        "llmin, llmax, llabs",
        "llmin(i, 9LL) + llmax(i, 11LL) + llabs(3LL - i)",
        lambda i: min(i, 9) + max(i, 11) + abs(3 - i),
    ),
    _integer("umin, umax", "umin(i, 9u) + umax(i, 11u)", lambda i: min(i, 9) + max(i, 11)),
    *(
        _integer(f"__{kind}2{to}_{mode}", f"__{kind}2{to}_{mode}(i)", lambda i: i)
        for kind in ("int", "uint", "ll", "ull")
        for to in ("float", "double")
        for mode in (("rn",) if to == "double" and kind in {"int", "uint"} else _ROUNDINGS)
    ),
)

_ORDINARY = (*ELEMENTARY, *NORMS, *SPECIAL, *ORDERS, *PIECEWISE, *FAST, *ROUNDING, *CONVERSIONS, *BITS, *INTEGER)


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

FUNCTIONS: tuple[Function, ...] = (*_ORDINARY, *EDGES)
