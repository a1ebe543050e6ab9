"""Statistics and estimation."""

from __future__ import annotations

import numpy as np
from programs.draw import DOUBLE2, F64, Array, Rng, struct, structs
from programs.program import Args, Program

_NOISE = np.dtype([(name, F64) for name in ("acceleration", "turn", "range", "bearing")])


def _factors(rng: Rng, count: int, size: int) -> Array:
    """Packed lower triangles with a positive diagonal."""
    rows, columns = np.tril_indices(size)
    return np.where(
        rows == columns, rng.uniform(0.8, 1.2, (count, len(rows))), 0.2 * rng.standard_normal((count, len(rows)))
    )


def _e_step(rng: Rng) -> Args:
    return {
        "points": rng.standard_normal((2, 50)),
        "weight_logits": rng.standard_normal(3),
        "means": rng.standard_normal((3, 2)),
        "cholesky": _factors(rng, 3, 2),
        "resp": np.zeros((3, 50)),
        "loglik": np.zeros(1),
        "n": 50,
    }


def _statistics(rng: Rng) -> Args:
    return {
        "points": rng.standard_normal((2, 50)),
        "resp": rng.uniform(0.1, 1, (3, 50)),
        "s0": np.zeros(3),
        "s1": np.zeros((3, 2)),
        "s2": np.zeros((3, 3)),
        "n": 50,
    }


def _m_step(rng: Rng) -> Args:
    mean, weight = rng.standard_normal((3, 2)), rng.uniform(5, 9, 3)
    rows, columns = np.tril_indices(2)
    spread = np.array([[1.2, 0.3, 1.1]]) + rng.uniform(-0.1, 0.1, (3, 3))
    return {
        "s0": weight,
        "s1": mean * weight[:, None],
        "s2": (spread + mean[:, rows] * mean[:, columns]) * weight[:, None],
        "means": np.zeros((3, 2)),
        "cholesky": np.zeros((3, 3)),
        "ridge": 1e-3,
        "K": 3,
    }


def _track(rng: Rng) -> Args:
    """Targets that turn slowly, measured with noise; a fifth of the measurements is missing."""
    n, steps, dt = 5, 8, 0.1
    start = rng.uniform([4, 4, 1, 0, 0.1], [6, 6, 2, 1, 0.3], (n, 5))
    time = dt * np.arange(1, steps + 1)
    x = start[:, :1] + start[:, 2:3] * np.cos(start[:, 3:4]) * time
    y = start[:, 1:2] + start[:, 2:3] * np.sin(start[:, 3:4]) * time
    noise = rng.standard_normal((2, n, steps)) * np.array([0.1, 0.01]).reshape(2, 1, 1)
    measured = np.stack([np.hypot(x, y) + noise[0], np.arctan2(y, x) + noise[1]], 2)
    return {
        "initial": start,
        "measurements": structs(DOUBLE2, measured.reshape(-1, 2)),
        "seen": (rng.uniform(0, 1, (n, steps)) < 0.8).astype(np.uint8),
        "dt": dt,
        "q": struct(_NOISE, 1.0, 0.2, 0.2, 0.02),
        "gate": 1e3,
        "states": np.zeros((n, steps, 5)),
        "log_likelihood": np.zeros(n),
        "rejected": np.ones(n, np.int32),
        "targets": n,
        "steps": steps,
    }


_TRACK_OUT = ("states", "log_likelihood", "rejected")

ROWS = (
    Program("gmm_em.cu", "e_step<double, 2, 3, 32>", _e_step, ("resp", "loglik"), 2, 32),
    Program("gmm_em.cu", "statistics<double, 2>", _statistics, ("s0", "s1", "s2"), (1, 3), 32),
    Program("gmm_em.cu", "m_step<double, 2>", _m_step, ("means", "cholesky"), 1, 4, flat=frozenset({"means"})),
    Program("ekf_tracking.cu", "track", _track, _TRACK_OUT, 1, 8, activity={"q": "active", "dt": "active"}),
)
