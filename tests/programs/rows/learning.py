"""Machine learning and statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
from programs.draw import F32, F64, Rng, struct
from programs.program import Args, Maker, Program

from cuda_kernels.draw import away_from_zero, normal, zeros


def _layer_norm(dtype: type) -> Maker:
    def make(rng: Rng) -> Args:
        arrays = {"in": normal(rng, 20, 12, dtype=dtype), "gain": normal(rng, 12, dtype=dtype)}
        arrays |= {"bias": normal(rng, 12, dtype=dtype), "out": zeros(20, 12, dtype=dtype)}
        return {**arrays, "rows": 20, "columns": 12, "epsilon": 1e-5}

    return make


def _attention(rng: Rng) -> Args:
    arrays = {name: normal(rng, 2, 14, 8) for name in "QKV"}
    return {
        **arrays,
        "O": zeros(2, 14, 8),
        "logsumexp": zeros(2, 14),
        "heads": 2,
        "tokens": 14,
        "scale": 0.4,
        "causal": True,
    }


def _descend(rng: Rng) -> Args:
    sizes = (20, 10)
    lists = {name: [*(normal(rng, size) for size in sizes), None] for name in ("weights", "slopes", "speeds")}
    rule = {"rate": 0.1, "friction": 0.9, "decay": 0.2, "looks_ahead": True}
    return {"groups": {**lists, "sizes": [*sizes, 0], "count": 2}, "rule": rule}


def _points(dims: int, dtype: type) -> np.dtype[np.void]:
    return np.dtype([("v", dtype, (dims,))])


def _cloud(rng: Rng, n: int, dims: int, dtype: type) -> np.ndarray[Any, Any]:
    points = np.zeros(n, _points(dims, dtype))
    points["v"] = rng.standard_normal((n, dims))
    return points


def _kmeans(rng: Rng) -> Args:
    """Points around centres that lie far from each other."""
    centres = _cloud(rng, 3, 3, F32)
    centres["v"] += np.array([[-5, 0, 0], [5, 0, 0], [0, 5, 5]], F32)
    points = _cloud(rng, 60, 3, F32)
    points["v"] = centres["v"][rng.integers(0, 3, 60)] + rng.uniform(-1, 1, (60, 3))
    return {"points": points, "centres": centres, "label": np.full(60, -7, np.int32), "cost": zeros(1), "n": 60, "k": 3}


def _mixture(rng: Rng) -> Args:
    sigma = _cloud(rng, 4, 2, F64)
    sigma["v"] *= 0.3
    return {
        "points": _cloud(rng, 50, 2, F64),
        "means": _cloud(rng, 4, 2, F64),
        "log_sigma": sigma,
        "logits": rng.standard_normal(4),
        "log_likelihood": np.zeros(50),
        "n": 50,
        "k": 4,
    }


def _lstm(rng: Rng) -> Args:
    samples, steps, units, features = 3, 4, 5, 6
    arrays = {"w": rng.standard_normal((4, units, features)), "bias": rng.standard_normal((4, units))}
    outputs = {"h": np.zeros((samples, steps, units)), "c_last": np.zeros((samples, units))}
    return {
        "weights": arrays,
        "x": rng.standard_normal((samples, steps, features)),
        **outputs,
        "samples": samples,
        "steps": steps,
        "units": units,
        "features": features,
    }


def _loss(kind: int | None = None) -> Maker:
    def make(rng: Rng) -> Args:
        target = normal(rng, 50)
        prediction = target + away_from_zero(rng, 50) * F32(0.4)
        out = {"total": zeros(1)} if kind is None else {"each": zeros(50)}
        last = {"n": 50} if kind is None else {"n": 50, "kind": kind}
        return {"prediction": prediction, "target": target, **out, **last}

    return make


def _linear(rng: Rng) -> Args:
    weight = rng.integers(-8, 8, (10, 16)).astype(np.int8)
    mask = rng.integers(0, 3, 16).astype(np.uint16)
    return {
        "weight": weight,
        "scale": normal(rng, 10, 4),
        "x": normal(rng, 16),
        "mask": mask,
        "y": np.zeros(10),
        "s": struct(np.dtype([("rows", np.int32), ("cols", np.int32), ("group", np.int32)]), 10, 16, 4),
    }


def _attend(tokens: int) -> Maker:
    def make(rng: Rng) -> Args:
        arrays = {name: normal(rng, tokens, 32) for name in "QKV"}
        return {**arrays, "O": zeros(tokens, 32), "tokens": tokens, "scale": 0.2}

    return make


def _add_bias(rng: Rng) -> Args:
    return {"y": rng.standard_normal(20), "bias": away_from_zero(rng, 20).astype(np.float16), "n": 20}


ROWS = (
    Program("layer_norm.cu", "layer_norm<float, true>", _layer_norm(F32), ("out",), 1, 32),
    Program("layer_norm.cu", "layer_norm<double, false>", _layer_norm(F64), ("out",), 1, 32),
    Program("attention.cu", "attention_forward", _attention, ("O", "logsumexp"), (1, 2), 16),
    Program("attention_tiles.cu", "attention_pieces", _attend(64), ("O",), 2, 64),
    Program("attention_tiles.cu", "attention_rows<32>", _attend(45), ("O",), 23, (32, 2)),
    Program(
        "momentum_groups.cu",
        "descend",
        _descend,
        ("groups.weights[0]", "groups.weights[1]", "groups.speeds[0]", "groups.speeds[1]"),
        2,
        8,
    ),
    Program("kmeans_gmm.cu", "kmeans_cost<float, 3>", _kmeans, ("label", "cost"), 2, 32),
    Program("kmeans_gmm.cu", "gmm_log_likelihood<double, 2>", _mixture, ("log_likelihood",), 2, 32),
    Program("lstm.cu", "lstm_layer", _lstm, ("h", "c_last"), (2, 1), (4, 4)),
    Program("losses.cu", "nn::loss::evaluate<nn::loss::Kind::Huber, float>", _loss(), ("total",), 2, 16),
    Program("losses.cu", "nn::loss::evaluate<nn::loss::Kind::BCE, float>", _loss(), ("total",), 2, 16),
    Program("losses.cu", "evaluate_any", _loss(2), ("each",), 2, 32),
    Program("quantized_linear.cu", "linear_q8", _linear, ("y",), 1, 32),
    Program("quantized_linear.cu", "add_bias", _add_bias, ("y",), 1, 32),
)
