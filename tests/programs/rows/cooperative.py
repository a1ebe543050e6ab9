"""Blocks whose threads work together, and what is refused on purpose."""

from __future__ import annotations

import numpy as np
from programs.draw import Rng
from programs.program import Args, Maker, Program

from cuda_kernels.draw import normal, uniform, zeros


def _batch_norm(rng: Rng) -> Args:
    arrays = {"x": normal(rng, 50, 3), "gamma": normal(rng, 3), "beta": normal(rng, 3), "y": zeros(50, 3)}
    return {**arrays, "mean_out": zeros(3), "samples": 50, "channels": 3, "eps": 1e-5}


def _channels(rng: Rng) -> Args:
    results = {"y": np.zeros((40, 5)), "mean_out": np.zeros(5), "scale_out": np.zeros(5)}
    return {"x": 2 + rng.standard_normal((40, 5)), **results, "samples": 40, "channels": 5, "epsilon": 1e-5}


def _rows(rng: Rng) -> Args:
    arrays = {"x": 1 + normal(rng, 3, 100), "gamma": normal(rng, 100), "beta": normal(rng, 100)}
    results = {"y": zeros(3, 100), "mean": zeros(3), "scale": zeros(3)}
    return {**arrays, **results, "rows": 3, "columns": 100, "epsilon": 1e-5}


def _half_rows(rng: Rng) -> Args:
    arrays = {"x": normal(rng, 2, 90).astype(np.float16), "gamma": normal(rng, 90)}
    return {**arrays, "y": np.zeros((2, 90), np.float16), "scale": zeros(2), "columns": 90, "epsilon": 1e-5}


def _spread(rng: Rng) -> Args:
    arrays = {"x": rng.uniform(1, 3, (5, 45)), "weight": rng.uniform(0.5, 1.5, 45), "out": np.zeros(5)}
    return {**arrays, "rows": 5, "columns": 45}


def _softmax(rng: Rng) -> Args:
    return {
        "in": rng.standard_normal((4, 21)),
        "temperature": rng.uniform(0.5, 1, 1),
        "out": np.zeros((4, 21)),
        "columns": 21,
    }


def _diffusion(rng: Rng) -> Args:
    return {
        "in": normal(rng, 13, 18),
        "kappa": uniform(rng, 1, 2, 13, 18),
        "out": zeros(13, 18),
        "width": 18,
        "height": 13,
        "lambda": 0.2,
    }


def _gemm(rng: Rng) -> Args:
    return {
        "m": 20,
        "n": 25,
        "k": 19,
        "alpha": 1.5,
        "A": rng.standard_normal((20, 19)),
        "B": rng.standard_normal((19, 25)),
        "beta": 0.5,
        "C": rng.standard_normal((20, 25)),
    }


def _transmit(rng: Rng) -> Args:
    return {
        "density": uniform(rng, 0, 0.1, 3, 28),
        "cross_section": uniform(rng, 0.5, 1, 3),
        "light": zeros(3, 28),
        "n": 28,
    }


def _energy(rng: Rng) -> Args:
    return {"field": normal(rng, 200), "energy": zeros(1), "n": 200}


def _votes(rng: Rng) -> Args:
    return {"x": normal(rng, 50), "out": zeros(50), "limit": 1.5, "n": 50}


def _chosen(rng: Rng) -> Args:
    return {"x": normal(rng, 50), "out": zeros(50), "which": 1, "n": 50}


def _total(rng: Rng) -> Args:
    return {"x": rng.standard_normal(50), "total": np.zeros(1), "n": 50}


def _bytes(rng: Rng) -> Args:
    return {"data": normal(rng, 50), "out": zeros(50), "n": 50}


def _nothing(*names: str) -> Maker:
    return lambda _: dict.fromkeys(names)


ROWS = (
    Program("batch_norm.cu", "batch_norm<32>", _batch_norm, ("y", "mean_out"), 3, 32),
    Program("welford_norm.cu", "channel_norm", _channels, ("y", "mean_out", "scale_out"), 1, 32),
    Program("welford_norm.cu", "row_norm", _rows, ("y", "mean", "scale"), 2, (32, 2)),
    Program("welford_norm.cu", "half_norm", _half_rows, ("y", "scale"), 2, 64),
    Program("welford_norm.cu", "spread", _spread, ("out",), 2, 32),
    Program("softmax_block.cu", "softmax_rows", _softmax, ("out",), 4, 16, (21 + 16) * 8),
    Program("stencil_shared.cu", "perona_malik", _diffusion, ("out",), (3, 2), (8, 8)),
    Program("gemm_shared.cu", "gemm<double, 16, 16, 8, 2>", _gemm, ("C",), (2, 2), 64),
    Program("prefix_transport.cu", "transmit", _transmit, ("light",), 3, 32, 2 * 32 * 4),
    Program("warp_reduce.cu", "field_energy", _energy, ("energy",), 2, 64),
    Program("unsupported.cu", "any_large", _votes, ("out",), 2, 32),
    Program("unsupported.cu", "accumulate_global", _nothing("x", "n"), block=32, refused="total_energy"),
    Program("unsupported.cu", "through_pointer", _chosen, ("out",), 2, 32),
    Program("unsupported.cu", "sum_by_cas", _total, ("total",), 2, 32),
    Program("unsupported.cu", "raw_bytes", _bytes, ("out",), 2, 32),
)
