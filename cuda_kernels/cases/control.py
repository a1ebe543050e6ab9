"""Barriers and shuffles in loops and branches, and threads that return before a barrier."""

from __future__ import annotations

import numpy as np

from cuda_kernels.case import Args, Case
from cuda_kernels.draw import F64, Floats, Ints, Rng, normal, uniform, zeros


def _jacobi(f: Floats, coupling: Floats, u: Floats, n: int, tolerance: float) -> None:
    for row, right, factor in zip(u.reshape(-1, n), f.reshape(-1, n), coupling, strict=True):
        change = np.inf
        while change > tolerance:
            padded = np.pad(row, 1)
            following = factor * (padded[:-2] + padded[2:]) + right
            change = np.max(np.abs(following - row))
            row[:] = following


def _jacobi_args(rng: Rng) -> Args:
    arrays = {
        "f": normal(rng, 3, 45, dtype=F64),
        "coupling": uniform(rng, 0.1, 0.4, 3, dtype=F64),
        "u": normal(rng, 3, 45, dtype=F64),
    }
    return {**arrays, "n": 45, "tolerance": 1e-11}


def _relax(pull: Floats, stiffness: Floats, chain: Floats, n: int, tolerance: float) -> None:
    for own, force in zip(chain.reshape(-1, n), pull.reshape(-1, n), strict=True):
        moved = np.inf
        while moved > tolerance:
            moved = 0.0
            for i in range(1, n - 1):
                before, rest = own[i], 0.5 * (own[i - 1] + own[i + 1])
                own[i] = (rest + force[i]) / (1.0 + stiffness[i] * before * before)
                moved = max(moved, abs(own[i] - before))


def _relax_args(rng: Rng) -> Args:
    arrays = {
        "pull": 0.1 * normal(rng, 8, 6, dtype=F64),
        "stiffness": uniform(rng, 0.5, 1.0, 6, dtype=F64),
        "chain": uniform(rng, 0.1, 0.5, 8, 6, dtype=F64),
    }
    return {**arrays, "n": 6, "tolerance": 1e-11}


def _ragged(x: Floats, y: Floats, n: int) -> None:
    for first in range(0, n, 32):
        part = x[first : min(first + 32, n)]
        y[first : first + len(part)] = part[::-1] ** 2 * part


def _halves(x: Floats, y: Floats) -> None:
    blocks = x.reshape(-1, 2, 16)
    y[:] = (blocks[:, 0] * blocks[:, 1]).ravel()


def _branches(x: Floats, rounds: Ints, y: Floats, mode: int) -> None:
    size = 48
    for block, count in enumerate(rounds):
        part = slice(block * size, (block + 1) * size)
        a, b = x[part].copy(), np.full(size, 0.5)
        if block % 2 == 0:
            b = a[::-1].copy()
        for r in range(count):
            v = np.roll(a, -1)
            for _ in range(r):
                a = 0.5 * v + 0.1 * a * b
                v = np.roll(a, 1)
            b = b + v * v
            if mode == 1 and r == 1:
                break
        y[part] = {0: a[::-1] * b, 1: np.roll(b, -3), 2: b}[int(mode)]


def _branch_case(mode: int) -> Case:
    def args(rng: Rng) -> Args:
        rounds = np.array([3, 0, 4], np.int32)
        return {"x": normal(rng, 144), "rounds": rounds, "y": zeros(144), "mode": mode}

    return Case("uniform_branches.cu", "branches", args, _branches, grid=3, block=48)


def _power(matrix: Floats, vector: Floats, rounds: int) -> None:
    for rows, v in zip(matrix.reshape(-1, 32, 32), vector.reshape(-1, 32), strict=True):
        for _ in range(int(rounds)):
            product = rows @ v
            v[:] = product / np.linalg.norm(product)


CASES = (
    Case("jacobi.cu", "jacobi", _jacobi_args, _jacobi, grid=3, block=64, slack=1e3),
    Case("relaxation.cu", "relax", _relax_args, _relax, grid=2, block=4, slack=1e3),
    Case(
        "early_exit.cu",
        "ragged",
        lambda rng: {"x": normal(rng, 50), "y": zeros(50), "n": 50},
        _ragged,
        grid=2,
        block=32,
        shared_bytes=4 * 32,
    ),
    Case(
        "early_exit.cu",
        "halves",
        lambda rng: {"x": normal(rng, 64), "y": zeros(32)},
        _halves,
        grid=2,
        block=32,
        shared_bytes=4 * 32,
    ),
    _branch_case(mode=1),
    Case(
        "warp_power.cu",
        "power",
        lambda rng: {"matrix": normal(rng, 64, 32), "vector": normal(rng, 64), "rounds": 3},
        _power,
        grid=2,
        block=32,
    ),
)
