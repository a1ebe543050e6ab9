"""Shared memory and barriers: threads of a block that work together."""

from __future__ import annotations

import numpy as np

from cuda_kernels.case import Args, Case
from cuda_kernels.draw import F64, Floats, Rng, normal, zeros


def _matmul(A: Floats, B: Floats, C: Floats, m: int, n: int, k: int) -> None:  # noqa: N803, the kernel's names
    C[:] = (A.reshape(m, k) @ B.reshape(k, n)).reshape(C.shape)


def _matmul_args(rng: Rng) -> Args:
    m, n, k = 20, 24, 35
    return {"A": normal(rng, m, k), "B": normal(rng, k, n), "C": zeros(m, n), "m": m, "n": n, "k": k}


def _sum_of_squares(x: Floats, total: Floats, n: int) -> None:
    total += (x[:n] ** 2).sum()


def _softmax(columns: int, **arrays: Floats) -> None:
    rows = arrays["in"].reshape(-1, columns)
    powers = np.exp(rows - rows.max(axis=1, keepdims=True))
    arrays["out"][:] = powers / powers.sum(axis=1, keepdims=True)


def _potential(x: Floats, y: Floats, q: Floats, phi: Floats, n: int) -> None:
    squared = (x[None, :] - x[:, None]) ** 2 + (y[None, :] - y[:, None]) ** 2
    phi[:n] = (q / np.sqrt(squared + 0.01)).sum(axis=1)


def _potential_args(rng: Rng) -> Args:
    return {**{name: normal(rng, 70, dtype=F64) for name in ("x", "y", "q", "phi")}, "n": 70}


def _filter(signal: Floats, taps: Floats, out: Floats, n: int, ntaps: int) -> None:
    padded = np.pad(signal, (ntaps // 2, ntaps - 1 - ntaps // 2))
    out[:n] = np.correlate(padded, taps**2, "valid")


def _transpose(scale: Floats, out: Floats, rows: int, columns: int, **arrays: Floats) -> None:
    out[:] = (arrays["in"].reshape(rows, columns) * scale[:, None]).T


def _transpose_args(rng: Rng) -> Args:
    return {"in": normal(rng, 13, 19), "scale": normal(rng, 13), "out": zeros(19, 13), "rows": 13, "columns": 19}


def _scan(x: Floats, prefix: Floats, n: int) -> None:
    for first in range(0, n, 64):
        prefix[first : first + 64] = np.cumsum(np.sin(x[first : first + 64]))


def _warps(values: Floats, n: int) -> Floats:
    """The first n values in rows of a warp; absent threads hold zero."""
    rows = np.zeros(-(-n // 64) * 64)
    rows[:n] = values[:n]
    return rows.reshape(-1, 32)


def _warp_scan(x: Floats, out: Floats, n: int) -> None:
    factors = np.where(np.arange(-(-n // 64) * 64).reshape(-1, 32) < n, 1 + 0.1 * np.sin(_warps(x, n)), 1)
    products = np.cumprod(factors, axis=1)
    result = products * products[:, 5:6] + products[:, np.arange(32) ^ 3] * (products > 0).sum(axis=1, keepdims=True)
    out[:n] = result.ravel()[:n]


def _warp_rotate(x: Floats, y: Floats, n: int) -> None:
    values, lane = _warps(x, n), np.arange(32)
    before = np.where(lane % 16 >= 3, lane - 3, lane)  # noqa: PLR2004, the kernel's numbers
    after = np.where(lane % 8 + lane % 4 < 8, lane + lane % 4, lane)  # noqa: PLR2004
    above = (values.reshape(-1, 64) > 0).sum(axis=1).repeat(2)[:, None]
    result = values[:, (lane * 7 + 3) % 32] ** 2 * values[:, before] + (2 * values[:, after]) ** 2 + 0.1 * above
    y[:n] = result.ravel()[:n]


def _phases(x: Floats) -> None:
    x[:] = (np.roll((x**2).reshape(-1, 64), -1, axis=1) ** 2 + 1).ravel()


CASES = (
    Case(
        "warp_sum.cu",
        "warp_sum",
        lambda rng: {"x": normal(rng, 300), "total": normal(rng, 1), "n": 300},
        _sum_of_squares,
        grid=3,
        block=64,
    ),
    Case(
        "warp_scan.cu",
        "warp_scan",
        lambda rng: {"x": normal(rng, 100, dtype=F64), "out": zeros(100, dtype=F64), "n": 100},
        _warp_scan,
        grid=2,
        block=64,
    ),
    Case(
        "warp_rotate.cu",
        "warp_rotate",
        lambda rng: {"x": normal(rng, 100), "y": zeros(100), "n": 100},
        _warp_rotate,
        grid=2,
        block=64,
    ),
    Case(
        "global_phases.cu",
        "global_phases",
        lambda rng: {"x": normal(rng, 128)},
        _phases,
        grid=2,
        block=64,
    ),
    Case("matmul_tiled.cu", "matmul", _matmul_args, _matmul, grid=(2, 2), block=(16, 16)),
    Case(
        "block_sum.cu",
        "sum_of_squares",
        lambda rng: {"x": normal(rng, 300), "total": normal(rng, 1), "n": 300},
        _sum_of_squares,
        grid=3,
        block=128,
    ),
    Case(
        "softmax_rows.cu",
        "softmax",
        lambda rng: {"in": normal(rng, 9, 50), "out": zeros(9, 50), "columns": 50},
        _softmax,
        grid=9,
        block=32,
        shared_bytes=4 * 32,
    ),
    Case(
        "nbody_tiles.cu",
        "potential",
        _potential_args,
        _potential,
        grid=3,
        block=32,
        shared_bytes=8 * 3 * 32,
    ),
    Case(
        "two_shared_arrays.cu",
        "filter",
        lambda rng: {"signal": normal(rng, 100), "taps": normal(rng, 7), "out": zeros(100), "n": 100, "ntaps": 7},
        _filter,
        grid=4,
        block=32,
        shared_bytes=4 * (32 + 6 + 7),
    ),
    Case("transpose_tile.cu", "transpose", _transpose_args, _transpose, grid=(3, 2), block=(8, 8)),
    Case(
        "scan.cu",
        "scan",
        lambda rng: {"x": normal(rng, 100, dtype=F64), "prefix": zeros(100, dtype=F64), "n": 100},
        _scan,
        grid=2,
        block=64,
    ),
)
