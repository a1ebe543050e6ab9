"""Every thread for itself: elementwise, a stencil, a recurrence, a search."""

from __future__ import annotations

import cupy as cp

from benchmarks.case import FP32_FLOPS, FP64_FLOPS, Args, Case, Floor, uniform

_LENGTH, _SIDE, _THREADS = 1 << 24, 512, 1 << 18
_POINTS, _FACES = 20_000, 10_000


def _heat_args() -> Args:
    arrays = {name: uniform(_SIDE, _SIDE, _SIDE) for name in ("u", "k", "v")}
    return {**arrays, "nx": _SIDE, "ny": _SIDE, "nz": _SIDE, "dt": 0.1}


def _search_args() -> Args:
    arrays = {"point": uniform(_POINTS, 3), "corner": uniform(3 * _FACES, 3), "distance": cp.zeros(_POINTS, "float32")}
    return {**arrays, "face": cp.zeros(_POINTS, "int32"), "points": _POINTS, "faces": _FACES}


def _recurrence(artifact: str, dtype: str, steps: int, at_most: float, what: str) -> Case:
    double = dtype == "float64"
    return Case(
        "recurrence",
        artifact,
        f"2^18 threads, {steps} steps, {'double' if double else 'float'}{what}",
        lambda: {
            **{name: uniform(_THREADS, dtype=dtype) for name in ("x0", "rate", "out")},
            "n": _THREADS,
            "steps": steps,
        },
        _THREADS // 256,
        256,
        at_most,
        Floor((24 if double else 12) * _THREADS, 3.0 * _THREADS * steps, FP64_FLOPS if double else FP32_FLOPS),
    )


def _recurrences(steps: int, at_most: float) -> tuple[Case, ...]:
    return tuple(
        _recurrence(f"recurrence-{kernel}{activity}", dtype, steps, at_most, what)
        for activity, what in (("", ""), ("-x0-fresh-rate-fresh-out-discarded", ", derivatives alone"))
        for kernel, dtype in (("logistic", "float64"), ("logistic_float", "float32"))
    )


def _elementwise(artifact: str, size: str) -> Case:
    return Case(
        "elementwise",
        artifact,
        size,
        lambda: {**{name: uniform(_LENGTH) for name in "xwy"}, "n": _LENGTH},
        _LENGTH // 256,
        256,
        2.0,
        Floor(bytes=12 * _LENGTH),
    )


CASES = (
    _elementwise("elementwise-elementwise", "2^24 float"),
    _elementwise("elementwise-elementwise-x-fresh-w-fresh-y-discarded", "2^24 float, derivatives alone"),
    Case(
        "heat stencil",
        "heat3d-heat3d",
        "512^3 float",
        _heat_args,
        (_SIDE // 32, _SIDE // 4, _SIDE // 2),
        (32, 4, 2),
        3.5,
        Floor(bytes=12 * _SIDE**3),
    ),
    Case(
        "nearest triangle",
        "nearest_face-nearest_face",
        "20,000 points, 10,000 triangles, float",
        _search_args,
        -(-_POINTS // 128),
        128,
        1.2,
        # 110 operations a pair.
        Floor(bytes=36 * _FACES + 20 * _POINTS, flops=110.0 * _POINTS * _FACES),
    ),
    *_recurrences(10, 2.0),
    *_recurrences(100, 3.5),
    *_recurrences(1000, 3.5),
)
