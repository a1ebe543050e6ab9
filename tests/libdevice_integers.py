"""Arithmetic with a given rounding, conversions, and functions of bits and integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath as mp
from libdevice_domains import DOUBLE, FLOAT, MODEST, REAL, STEPS, split_number, truncated
from libdevice_function import (
    Draw,
    Function,
    Number,
    Precision,
    Slopes,
    between_integers,
    magnitudes,
    signed,
    uniform,
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
    name: str, integer: Callable[[Number], Number], precisions: tuple[Precision, ...], domain: Draw = STEPS
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


_INTEGER_ROUNDING = {"rn": mp.nint, "rz": truncated, "rd": mp.floor, "ru": mp.ceil}
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
        lambda a: a / mp.mpf(2) ** (split_number(a)[1] - 1),
        lambda a: (mp.mpf(2) ** (1 - split_number(a)[1]),),
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
