"""Numerical methods and signals."""

from __future__ import annotations

import numpy as np
from programs.draw import DOUBLE2, F32, F64, Array, Rng, struct, structs
from programs.program import Args, Maker, Program

from cuda_kernels.draw import normal, uniform, zeros

_WALK = np.dtype([("nx", np.int32), ("ny", np.int32), ("cell", F64)])
_CELL = np.dtype([(name, F64) for name in "rlc"])


def _iir(rng: Rng) -> Args:
    return {
        "in": normal(rng, 24, 3),
        "out": zeros(24, 3),
        "cutoff": uniform(rng, 0.1, 0.2, 3),
        "resonance": uniform(rng, 0.6, 0.9, 3),
        "channels": 3,
        "samples": 24,
    }


def _fir(rng: Rng) -> Args:
    return {
        "in": normal(rng, 40, 3),
        "taps": normal(rng, 8),
        "out": zeros(40, 3),
        "channels": 3,
        "samples": 40,
        "n_taps": 8,
    }


def _denoise(rng: Rng) -> Args:
    return {"image": normal(rng, 20, 16), "thresholds": uniform(rng, 0.2, 0.5, 4), "rows": 20, "width": 16}


def _thomas(rng: Rng) -> Args:
    n, batch = 12, 20
    arrays = {"lower": rng.uniform(-1, 0, (n, batch)), "diag": rng.uniform(2.5, 3, (n, batch))}
    arrays |= {"upper": rng.uniform(-1, 0, (n, batch)), "rhs": rng.standard_normal((n, batch))}
    return {**arrays, "x": np.zeros((n, batch)), "work": np.zeros((n, batch)), "n": n, "batch": batch}


def _spd(n: int, dtype: type) -> Maker:
    def make(rng: Rng) -> Args:
        root = rng.uniform(-1, 1, (20, n, n))
        matrices: Array = (root @ root.transpose(0, 2, 1) + 2 * np.eye(n)).astype(dtype)
        return {
            "matrices": matrices,
            "rhs": normal(rng, 20, n, dtype=dtype),
            "solutions": zeros(20, n, dtype=dtype),
            "logdet": zeros(20, dtype=dtype),
            "ok": np.zeros(20, np.bool_),
            "batch": 20,
        }

    return make


def _qr(rng: Rng) -> Args:
    a = rng.standard_normal((20, 3, 3)) + 3 * np.eye(3)
    return {"in": a, "q": np.zeros((20, 3, 3)), "r": np.zeros((20, 3, 3)), "batch": 20}


def _cubics(rng: Rng) -> Args:
    return {
        "coefficients": rng.uniform(1, 2, (20, 3)),
        "real_parts": np.zeros((20, 3)),
        "imaginary_parts": np.zeros((20, 3)),
        "n": 20,
        "sweeps": 12,
    }


def _newton(rng: Rng) -> Args:
    return {"coefficients": rng.uniform(1, 2, (20, 3)), "guess": rng.uniform(-1, 1, 20), "root": np.zeros(20), "n": 20}


def _ladder(rng: Rng) -> Args:
    cells = np.zeros(4, _CELL)
    for name in "rlc":
        cells[name] = rng.uniform(0.5, 1.5, 4)
    return {
        "cells": cells,
        "omega": rng.uniform(0.5, 2, 30),
        "magnitude": np.zeros(30),
        "phase": np.zeros(30),
        "n_cells": 4,
        "n": 30,
        "load": 2.0,
    }


def _transport(rng: Rng) -> Args:
    return {
        "absorption": uniform(rng, 0.2, 1, 8),
        "scattering": uniform(rng, 0.2, 1, 8),
        "dose": zeros(8),
        "escaped": zeros(60),
        "seed": int(rng.integers(1, 10**6)),
        "histories": 60,
        "max_steps": 20,
        "thickness": 1.0,
    }


def _rays(rng: Rng) -> Args:
    angle = rng.uniform(0, 2 * np.pi, 30)
    directions = structs(DOUBLE2, np.stack([np.cos(angle), np.sin(angle)], 1))
    return {
        "density": rng.uniform(0.1, 0.5, (8, 8)),
        "origins": structs(DOUBLE2, rng.uniform(3.1, 3.9, (30, 2))),
        "directions": directions,
        "light": np.zeros(30),
        "g": struct(_WALK, 8, 8, 1.0),
        "rays": 30,
        "opaque": 1.0,
    }


def _median(rng: Rng) -> Args:
    return {"image": rng.standard_normal((10, 12)), "out": np.zeros((10, 12)), "width": 12, "height": 10}


ROWS = (
    Program("audio_filters.cu", "iir", _iir, ("out",), 1, 32),
    Program("audio_filters.cu", "fir", _fir, ("out",), 2, 32),
    Program("wavelet.cu", "denoise", _denoise, ("image",), 1, 8),
    Program("tridiagonal.cu", "thomas", _thomas, ("x", "work"), 1, 32, flat=frozenset({"x"})),
    Program(
        "small_linear_algebra.cu", "batched::solve_spd<float, 4>", _spd(4, F32), ("solutions", "logdet", "ok"), 1, 32
    ),
    Program(
        "small_linear_algebra.cu", "batched::solve_spd<double, 3>", _spd(3, F64), ("solutions", "logdet", "ok"), 1, 32
    ),
    Program("small_linear_algebra.cu", "batched::qr3<double>", _qr, ("q", "r"), 1, 32),
    Program("polynomial_roots.cu", "durand_kerner", _cubics, ("real_parts", "imaginary_parts"), 1, 32),
    Program("polynomial_roots.cu", "newton", _newton, ("root",), 1, 32, flat=frozenset({"guess"})),
    Program("impedance.cu", "ladder", _ladder, ("magnitude", "phase"), 1, 32, activity={"load": "active"}),
    Program("dose.cu", "transport", _transport, ("dose", "escaped"), 2, 32, tolerance=1e-2),
    Program("voxel_walk.cu", "attenuate", _rays, ("light",), 1, 32),
    Program("voxel_walk.cu", "median_filter", _median, ("out",), (2, 2), (8, 8)),
)
