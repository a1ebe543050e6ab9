"""Blocks that work together in shared memory: matrix product, bodies, reduction."""

from __future__ import annotations

from benchmarks.case import FP64_FLOPS, Case, Floor, uniform

_LENGTH, _BODIES = 1 << 24, 65_536


def _matmul(side: int) -> Case:
    return Case(
        "tiled matmul",
        "matmul_tiled-matmul",
        f"{side}^2 float",
        lambda: {**{name: uniform(side, side) for name in "ABC"}, "m": side, "n": side, "k": side},
        (side // 16, side // 16),
        (16, 16),
        5.0,
        Floor(bytes=12 * side**2, flops=2.0 * side**3),
    )


CASES = (
    _matmul(1024),
    _matmul(4096),
    Case(
        "N-body tiles",
        "nbody_tiles-potential",
        "65,536 double",
        lambda: {**{name: uniform(_BODIES, dtype="float64") for name in ("x", "y", "q", "phi")}, "n": _BODIES},
        _BODIES // 128,
        128,
        4.0,
        Floor(bytes=32 * _BODIES, flops=9.0 * _BODIES**2, flops_a_second=FP64_FLOPS),
        8 * 3 * 128,
    ),
    Case(
        "block reduction",
        "block_sum-sum_of_squares",
        "2^24 float",
        lambda: {"x": uniform(_LENGTH), "total": uniform(1), "n": _LENGTH},
        _LENGTH // 128,
        128,
        3.0,
        Floor(bytes=4 * _LENGTH),
    ),
)
