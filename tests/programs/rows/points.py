"""Clouds of points, and systems that a block solves by steps of doubling distances."""

from __future__ import annotations

from functools import partial

import numpy as np
from programs.draw import F32, F64, Rng
from programs.program import Args, Program

from cuda_kernels.draw import integers, normal, uniform, zeros

NEIGHBOURS = 8


def nearest(rng: Rng, n: int = 40, m: int = 60) -> Args:
    """No two of the others are about as far from a point: along a line, and a quarter of their distance off it."""
    others, at = uniform(rng, -0.02, 0.02, m, 3), uniform(rng, -0.02, 0.02, n, 3)
    others[:, 0] += rng.permutation(m)
    at[:, 0] += rng.integers(0, m, n) + F32(0.25)
    clouds = {"points": at, "others": others}
    found = {"distances": zeros(n, NEIGHBOURS), "which": np.zeros((n, NEIGHBOURS), np.int32)}
    return {**clouds, **found, "n": n, "m": m}


def interpolated(rng: Rng, channels: int = 5, m: int = 30, n: int = 70) -> Args:
    arrays = {"features": normal(rng, channels, m), "which": integers(rng, 0, m, n, 3)}
    weights = {"weights": uniform(rng, 0.1, 1.0, n, 3), "confidence": uniform(rng, 0.2, 1.0, n)}
    return {**arrays, **weights, "out": zeros(channels, n), "channels": channels, "m": m, "n": n}


def corners(rng: Rng, n: int = 20, channels: int = 4, m: int = 30) -> Args:
    arrays = {"which": integers(rng, -m // 9, m, n, 8), "weights": uniform(rng, 0.1, 1.0, n, 8)}
    return {
        **arrays,
        "features": normal(rng, m, channels),
        "out": normal(rng, n, channels),
        "n": n,
        "channels": channels,
    }


def weighed(rng: Rng, n: int = 60, repeats: int = 5) -> Args:
    return {"in": normal(rng, n), "out": zeros(n), "n": n, "repeats": repeats}


def system(rng: Rng, n: int = 32, systems: int = 3, dtype: type = F64) -> Args:
    beside = {name: uniform(rng, -0.5, 0.5, systems, n, dtype=dtype) for name in ("below", "above")}
    diagonal = uniform(rng, 2.0, 3.0, systems, n, dtype=dtype)
    ordered = {"below": beside["below"], "diagonal": diagonal, "above": beside["above"]}
    right = {"right": normal(rng, systems, n, dtype=dtype), "x": zeros(systems, n, dtype=dtype)}
    return {**ordered, **right, "n": n}


ROWS = (
    Program("point_features.cu", "nearest", nearest, ("distances", "which"), 2, 32),
    Program("point_features.cu", "interpolate", interpolated, ("out",), 3, 32),
    Program("point_features.cu", "corners", corners, ("out",), 3, 32, activity={"weights": "const"}),
    Program("point_features.cu", "weighed", weighed, ("out",), 2, 32),
    Program("doubling.cu", "by_doubling<double>", system, ("x",), 3, 32, 4 * 32 * 8),
    Program("doubling.cu", "by_doubling<float>", partial(system, dtype=F32), ("x",), 3, 32, 4 * 32 * 4),
)
