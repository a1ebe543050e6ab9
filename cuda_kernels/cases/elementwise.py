"""One output an input: scalars, branches, integer parameters, the maths library, templates, names."""

from __future__ import annotations

from dataclasses import replace
from math import erf, erfc

import numpy as np

from cuda_kernels.case import Args, Case
from cuda_kernels.draw import F64, Floats, Ints, Rng, away_from_zero, integers, normal, uniform, zeros

_SHALLOW, _DARK = 0.05, 0.5  # where kernels branch

_erf = np.vectorize(erf, otypes=[F64])
_erfc = np.vectorize(erfc, otypes=[F64])


def _elementwise(x: Floats, w: Floats, y: Floats, n: int) -> None:
    y[:n] = np.sin(x) * w + np.exp(x)


def _saxpy(n: int, alpha: Floats, x: Floats, y: Floats) -> None:
    y[:n] += alpha * x


def _squash(x: Floats, bias: Floats, n: int) -> None:
    x[:n] = np.tanh(x * x + bias)


def _adam(weight: Floats, grad: Floats, m: Floats, v: Floats, n: int, lr: Floats, beta1: Floats, beta2: Floats) -> None:
    m[:n] = beta1 * m + (1.0 - beta1) * grad
    v[:n] = beta2 * v + (1.0 - beta2) * grad * grad
    weight[:n] -= lr * m / (np.sqrt(v) + np.float32(1e-3))


def _adam_args(rng: Rng) -> Args:
    n = 150
    arrays = {"weight": normal(rng, n), "grad": normal(rng, n), "m": normal(rng, n), "v": uniform(rng, 0.1, 1.0, n)}
    return {**arrays, "n": n, "lr": np.float32(0.1), "beta1": np.float32(0.9), "beta2": np.float32(0.8)}


def _flow_speed(depth: Floats, slope: Floats, mask: Ints, speed: Floats, cells: int) -> None:
    wet = np.maximum(depth, 1e-9) ** (2.0 / 3.0) * np.sqrt(slope) / 0.03
    speed[:cells] = np.where(mask == 0, 0.0, np.where(depth < _SHALLOW, depth * slope, wet))


def _flow_speed_args(rng: Rng) -> Args:
    n = 120
    depth = np.where(rng.integers(0, 3, n) == 0, rng.uniform(0.01, 0.04, n), rng.uniform(0.1, 3.0, n))
    slope, mask = uniform(rng, 0.01, 0.2, n, dtype=F64), integers(rng, 0, 3, n)
    return {"depth": depth, "slope": slope, "mask": mask, "speed": normal(rng, n, dtype=F64), "cells": n}


def _activation(x: Floats, kind: Ints, y: Floats, n: int) -> None:
    gelu = 0.5 * x * (1.0 + _erf(x * np.float32(0.70710678)))
    y[:n] = np.choose(kind, [np.maximum(x, 0.0), np.tanh(x), 1.0 / (1.0 + np.exp(-x)), gelu, x])


def _activation_args(rng: Rng) -> Args:
    kind = integers(rng, 0, 5, 150, dtype=np.uint8)
    return {"x": away_from_zero(rng, 150), "kind": kind, "y": zeros(150), "n": 150}


def _tone_map(light: Floats, screen: Floats, n: int, floor_level: Floats, ceiling: Floats) -> None:
    v = np.clip(light, floor_level, ceiling)
    contrast = np.where(np.abs(light) < _DARK, v * v, 0.5 * v)
    screen[:n] = contrast + np.float32(0.1) * np.abs(light) + np.maximum(0.0, light - 1.0)


def _tone_map_args(rng: Rng) -> Args:
    middle = rng.choice([-1.2, -0.75, -0.25, 0.05, 0.35, 0.65, 0.9, 1.3], 120)
    light = (middle + rng.uniform(-0.04, 0.04, 120)).astype(np.float32)
    return {"light": light, "screen": zeros(120), "n": 120, "floor_level": np.float32(0.2), "ceiling": np.float32(0.8)}


def _math_mix(a: Floats, b: Floats, out: Floats, n: int) -> None:
    x, y = a, b
    first = x**y + np.tanh(x - y) + _erf(x * y) + np.log1p(x) + np.expm1(0.1 * y)
    second = np.arctan2(x, y) + np.cbrt(x) + np.hypot(x, y) + x * y + np.cos(x) + np.sinh(0.3 * x) * np.cosh(0.2 * y)
    third = np.arcsin(0.4 * x) + np.arccos(0.3 * y) + np.tan(0.5 * x) + np.exp2(0.5 * y) + np.log2(x) + np.log10(y)
    out[:n] = first + 0.5 * second + 0.25 * (third + 1.0 / np.sqrt(x))


def _math_mix_double(a: Floats, b: Floats, out: Floats, n: int) -> None:
    x, y = a, b
    first = x**y + np.tanh(x - y) + _erf(x * y) + np.log1p(x) + np.expm1(0.1 * y) + _erfc(x)
    second = np.arctan2(x, y) + np.cbrt(x) + np.hypot(x, y) + x * y + np.cos(x) + np.sinh(0.3 * x)
    third = np.arcsin(0.4 * x) + np.arctan(y) + np.tan(0.5 * x) + np.exp2(0.5 * y) + np.log2(x) + 1.0 / np.sqrt(x)
    out[:n] = first + 0.5 * second + 0.25 * third + np.fmod(x, 0.3) + np.sqrt(y) + x / y


def _math_mix_double_args(rng: Rng) -> Args:
    """Keeps x away from the jumps of fmod(x, 0.3)."""
    x = 0.3 * rng.integers(1, 6, 120) + rng.uniform(0.05, 0.25, 120)
    return {"a": x, "b": uniform(rng, 0.5, 2.0, 120, dtype=F64), "out": zeros(120, dtype=F64), "n": 120}


def _polynomial(coefficients: Floats, x: Floats, y: Floats, degree: int, n: int) -> None:
    y[:n] = np.polyval(coefficients[degree::-1], x)


def _dither(
    level: Floats, pattern: Ints, out: Floats, n: int, offset: int, period: int, seed: int, inverted: bool, shift: int
) -> None:
    i = np.arange(n)
    noise = (((i + seed) * 2654435761 % 2**32) >> 8) / 16777216.0
    value = level * level * (pattern[(i + offset) % period] / 255.0) + noise * level + shift
    out[:n] = -value if inverted else value


def _dither_args(rng: Rng) -> Args:
    level, pattern = normal(rng, 100, dtype=F64), integers(rng, 0, 256, 16, dtype=np.uint8)
    numbers = {"offset": 3, "period": 16, "seed": int(rng.integers(2**31)), "inverted": True, "shift": -2}
    return {"level": level, "pattern": pattern, "out": zeros(100, dtype=F64), "n": 100, **numbers}


def _axpy(a: Floats, x: Floats, y: Floats, n: int) -> None:
    y[:n] += a * x * x


def _softplus(**arrays: Floats) -> None:
    x = arrays["in"]
    arrays["out"][:] = np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0.0)


def _swish(**arrays: Floats) -> None:
    x = arrays["in"]
    arrays["out"][:] = x / (1.0 + np.exp(-x))


def _leaky_relu(x: Floats, n: int) -> None:
    x[:n] = np.where(x > 0.0, x, np.float32(0.01) * x)


def _lennard_jones(distance: Floats, energy: Floats, n: int, depth: Floats) -> None:
    energy[:n] = 4.0 * depth * (distance**-12.0 - distance**-6.0)


def _morse(distance: Floats, energy: Floats, n: int) -> None:
    energy[:n] = (1.0 - np.exp(-1.3 * (distance - 1.0))) ** 2


def _axpy_args(dtype: type) -> Case:
    name = "float" if dtype is np.float32 else "double"
    return Case(
        "axpy_template.cu",
        f"axpy<{name}>",
        lambda rng: {
            "a": dtype(rng.normal()),
            "x": normal(rng, 100, dtype=dtype),
            "y": normal(rng, 100, dtype=dtype),
            "n": 100,
        },
        _axpy,
        grid=4,
        block=32,
        activity={"a": "active"},
    )


def _distances(rng: Rng) -> Args:
    return {"distance": uniform(rng, 0.9, 2.0, 90, dtype=F64), "energy": normal(rng, 90, dtype=F64), "n": 90}


_ELEMENTWISE = Case(
    "elementwise.cu",
    "elementwise",
    lambda rng: {"x": normal(rng, 200), "w": normal(rng, 200), "y": normal(rng, 200), "n": 200},
    _elementwise,
    grid=4,
    block=64,
)

CASES = (
    _ELEMENTWISE,
    replace(_ELEMENTWISE, activity={"x": "fresh", "w": "fresh", "y": "discarded"}),
    Case(
        "saxpy.cu",
        "saxpy",
        lambda rng: {"n": 150, "alpha": np.float32(rng.normal()), "x": normal(rng, 150), "y": normal(rng, 150)},
        _saxpy,
        grid=3,
        block=64,
        activity={"alpha": "active"},
    ),
    Case(
        "in_place.cu",
        "squash",
        lambda rng: {"x": normal(rng, 150), "bias": normal(rng, 150), "n": 150},
        _squash,
        grid=3,
        block=64,
    ),
    Case("grid_stride.cu", "adam", _adam_args, _adam, grid=2, block=32),
    Case("early_return.cu", "flow_speed", _flow_speed_args, _flow_speed, grid=2, block=64, slack=4.0),
    Case("activations.cu", "activation", _activation_args, _activation, grid=3, block=64),
    Case("clamp.cu", "tone_map", _tone_map_args, _tone_map, grid=2, block=64),
    Case(
        "math_mix.cu",
        "math_mix",
        lambda rng: {"a": uniform(rng, 0.4, 1.8, 150), "b": uniform(rng, 0.5, 2.0, 150), "out": zeros(150), "n": 150},
        _math_mix,
        grid=5,
        block=32,
    ),
    Case("math_mix_double.cu", "math_mix_double", _math_mix_double_args, _math_mix_double, grid=4, block=32),
    Case(
        "c_style.cu",
        "polynomial",
        lambda rng: {
            "coefficients": normal(rng, 6),
            "x": uniform(rng, -1, 1, 90),
            "y": zeros(90),
            "degree": 5,
            "n": 90,
        },
        _polynomial,
        grid=3,
        block=32,
    ),
    Case("integer_types.cu", "dither", _dither_args, _dither, grid=4, block=32),
    _axpy_args(np.float32),
    _axpy_args(np.float64),
    Case(
        "functor_template.cu",
        "transform<Softplus>",
        lambda rng: {"in": away_from_zero(rng, 100), "out": zeros(100), "n": 100},
        _softplus,
        grid=2,
        block=32,
    ),
    Case(
        "functor_template.cu",
        "transform<Swish>",
        lambda rng: {"in": normal(rng, 100), "out": zeros(100), "n": 100},
        _swish,
        grid=2,
        block=32,
    ),
    Case(
        "several_kernels.cu",
        "leaky_relu",
        lambda rng: {"x": away_from_zero(rng, 100), "n": 100},
        _leaky_relu,
        grid=2,
        block=64,
    ),
    Case(
        "namespaces.cu",
        "physics::lennard_jones",
        lambda rng: {**_distances(rng), "depth": rng.uniform(0.5, 2.0)},
        _lennard_jones,
        grid=3,
        block=32,
        activity={"depth": "active"},
    ),
    Case("namespaces.cu", "morse", _distances, _morse, grid=3, block=32),
)
