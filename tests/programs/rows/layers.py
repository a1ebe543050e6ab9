"""Layers of networks, forward, as their engineers write them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from programs.draw import FLOAT2, Rng, struct, structs
from programs.program import Args, Program

from cuda_kernels.draw import normal, uniform, zeros

_CONV = np.dtype(
    [
        (name, np.int32)
        for name in ("batch", "in_channels", "out_channels", "height", "width", "out_height", "out_width", "pad")
    ]
)


def _rms(rng: Rng) -> Args:
    return {
        "x": normal(rng, 5, 12),
        "g": uniform(rng, 0.5, 1.5, 12),
        "y": zeros(5, 12),
        "rows": 5,
        "dim": 12,
        "eps": 1e-5,
    }


def _rope(rng: Rng) -> Args:
    return {"qk": normal(rng, 6, 2, 8), "tokens": 6, "heads": 2, "head_dim": 8, "base": 100.0}


def _attention(rng: Rng) -> Args:
    arrays = {"q": normal(rng, 4, 9, 16), "k": normal(rng, 2, 9, 16), "v": normal(rng, 2, 9, 16)}
    return {**arrays, "out": zeros(4, 9, 16), "tokens": 9, "heads": 4, "kv_heads": 2, "scale": 0.25}


def _gated(rng: Rng) -> Args:
    arrays = {"x": normal(rng, 4, 19), "wg": normal(rng, 19, 21), "wu": normal(rng, 19, 21)}
    return {**arrays, "out": zeros(4, 21), "rows": 4, "dim": 19, "hidden": 21}


def _conv(rng: Rng) -> Args:
    return {
        "in": normal(rng, 2, 3, 9, 10),
        "weight": normal(rng, 4, 3, 3, 3),
        "bias": normal(rng, 4),
        "out": zeros(2, 4, 5, 5),
        "s": struct(_CONV, 2, 3, 4, 9, 10, 5, 5, 1),
    }


def _depthwise(rng: Rng) -> Args:
    arrays = {"in": normal(rng, 4, 7, 6), "weight": normal(rng, 2, 3, 3), "out": zeros(4, 7, 6)}
    return {**arrays, "planes": 4, "channels": 2, "h": 7, "w": 6}


def _pool(rng: Rng) -> Args:
    """Values far enough apart that no step changes which one is the largest."""
    image = rng.permutation(2 * 6 * 8).reshape(2, 6, 8).astype(np.float32) / 10
    return {"in": image, "out": zeros(2, 3, 4), "where": np.full((2, 3, 4), 9, np.uint8), "planes": 2, "h": 6, "w": 8}


def _region_maxima(rng: Rng) -> Args:
    """Values far enough apart, as above; of the boxes, one is empty."""
    image = rng.permutation(2 * 9 * 11).reshape(2, 9, 11).astype(np.float32) / 10
    corners = uniform(rng, 0, 5, 3, 2)
    boxes = np.concatenate([corners, corners + uniform(rng, 2, 6, 3, 2)], axis=1).astype(np.float32)
    boxes[1, 2] = boxes[1, 0] = 20
    found = {"out": zeros(3, 2, 2, 2), "argmax": np.zeros((3, 2, 2, 2), np.int32)}
    return {"n": 24, "image": image, "boxes": boxes, **found, "pooled": 2, "channels": 2, "height": 9, "width": 11}


def _line_maxima(rng: Rng) -> Args:
    image = rng.permutation(3 * 9 * 11).reshape(3, 9, 11).astype(np.float32) / 10
    found = {"out": zeros(4, 3), "at": np.zeros((4, 3), np.int32)}
    sizes = {"channels": 3, "height": 9, "width": 11, "steps": 6}
    return {"n": 12, "image": image, "lines": uniform(rng, 0.3, 7.7, 4, 4), **found, **sizes}


def _average(rng: Rng) -> Args:
    return {"in": normal(rng, 3, 50), "out": zeros(3), "area": 50}


def _delta_rule(rng: Rng) -> Args:
    vectors = {name: 0.3 * normal(rng, 2, 7, 32) for name in ("query", "key", "value", "read", "write")}
    return {"decay": uniform(rng, -3, 0, 2, 7, 32), **vectors, "out": zeros(2, 7, 32), "steps": 7}


def _decaying_scan(rng: Rng) -> Args:
    arrays = {"x": normal(rng, 2, 9, 37), "step": normal(rng, 2, 9, 37), "rate": uniform(rng, -2, -0.2, 37, 16)}
    shared = {"in": normal(rng, 2, 9, 16), "away": normal(rng, 2, 9, 16), "skip": normal(rng, 37)}
    return {**arrays, **shared, "y": zeros(2, 9, 37), "length": 9, "channels": 37}


def _light_unit(rng: Rng) -> Args:
    arrays = {"pre": normal(rng, 8, 40, 3), "skip": normal(rng, 8, 40), "peephole": normal(rng, 2, 40)}
    return {**arrays, "first": normal(rng, 40), "cells": zeros(8, 40), "out": zeros(8, 40), "steps": 8, "width": 40}


def _gru(rng: Rng) -> Args:
    p = {
        "w_input": 0.5 * normal(rng, 3, 9, 4),
        "w_hidden": 0.5 * normal(rng, 3, 9, 9),
        "bias": normal(rng, 3, 9),
        "input": 4,
        "hidden": 9,
    }
    return {
        "p": p,
        "inputs": normal(rng, 3, 5, 4),
        "lengths": np.array([5, 3, 4], np.int32),
        "h0": normal(rng, 3, 9),
        "states": zeros(3, 5, 9),
        "steps": 5,
    }


def _head(rng: Rng) -> Args:
    return {
        "h": normal(rng, 4, 20),
        "gain": uniform(rng, 0.5, 1.5, 20),
        "w": normal(rng, 5, 20),
        "label": np.array([0, 4, -1, 2], np.int32),
        "loss": zeros(4) - 1,
        "hidden": 20,
        "classes": 5,
        "smoothing": 0.1,
    }


def _gemv(rng: Rng) -> Args:
    arrays = {"w": normal(rng, 7, 20).astype(np.float16), "x": normal(rng, 20).astype(np.float16), "b": normal(rng, 7)}
    return {**arrays, "y": zeros(7), "rows": 7, "pairs": 10}


def _bags(rng: Rng) -> Args:
    return {
        "table": rng.integers(-100, 100, (10, 12)).astype(np.int8),
        "scale_bias": structs(FLOAT2, rng.uniform(0.01, 0.02, (10, 2))),
        "ids": rng.integers(0, 10, 20),
        "offsets": np.array([0, 6, 6, 15, 20]),
        "sample_weight": uniform(rng, 0.5, 1, 20),
        "out": zeros(4, 12) - 1,
        "bags": 4,
        "width": 12,
    }


def _residual(rng: Rng) -> Args:
    rows = {name: normal(rng, 40).astype(np.float16) for name in ("x", "branch")}
    return {
        **rows,
        "gamma": uniform(rng, 0.5, 1, 8),
        "out": np.zeros(40, np.float16),
        "n": 40,
        "channels": 8,
        "keep": 0.9,
    }


def _distilled(rng: Rng) -> Args:
    rows = {name: normal(rng, 3, 50).astype(np.float16) for name in ("student", "teacher")}
    return {**rows, "loss": zeros(3), "classes": 50, "temperature": 2.0}


def _tensor(values: NDArray[np.floating]) -> Args:
    """What an accessor of PyTorch holds."""
    return {"data_": values, "sizes_": values.shape, "strides_": [step // values.itemsize for step in values.strides]}


def _cell(rng: Rng) -> Args:
    return {
        "gates": _tensor(normal(rng, 2, 3, 40)),
        "old_cell": _tensor(normal(rng, 2, 40)),
        "new_cell": _tensor(zeros(2, 40)),
    }


def _huber(rng: Rng) -> Args:
    return {"n": 50, "x": normal(rng, 50), "y": normal(rng, 50), "loss": zeros(1)}


def _scan(rng: Rng) -> Args:
    """Three chunks of 128 elements, the last of them not full."""
    p = {"batch": 2, "dim": 2, "seqlen": 300, "dstate": 3, "u": normal(rng, 2, 2, 300), "delta": normal(rng, 2, 2, 300)}
    p |= {
        "A": -uniform(rng, 0.2, 2, 2, 3),
        "B": normal(rng, 2, 3, 300),
        "C": normal(rng, 2, 3, 300),
        "D": normal(rng, 2),
    }
    p |= {"z": None, "delta_bias": normal(rng, 2), "out": zeros(2, 2, 300), "last_state": zeros(2, 2, 3)}
    return {"p": p | {"delta_softplus": True}}


def _covariance(rng: Rng) -> Args:
    return {"one": normal(rng, 19, 13), "other": normal(rng, 19, 13), "map": zeros(19, 13), "height": 19, "width": 13}


def _contrast(rng: Rng) -> Args:
    return {"image": normal(rng, 3, 19, 13), "map": zeros(3, 19, 13), "channels": 3, "height": 19, "width": 13}


def _triples(rng: Rng) -> Args:
    return {"lines": normal(rng, 3, 64), "sums": zeros(64), "rounds": 3}


def _sampled(rng: Rng) -> Args:
    queries, channels, levels, points = 5, 6, 3, 2
    lengths = np.array([9, 6, 4], np.int32)
    begins = np.array([0, 9, 15], np.int32)
    return {
        "n": queries * channels,
        "values": normal(rng, 19, channels),
        "lengths": lengths,
        "begins": begins,
        "places": uniform(rng, 0.15, 0.75, queries, levels, points, 2),
        "scores": uniform(rng, 0.2, 1.0, queries, levels, points),
        "channels": channels,
        "levels": levels,
        "points": points,
        "out": zeros(queries, channels),
    }


def _nearest(rng: Rng) -> Args:
    return {
        "objects": structs(FLOAT2, rng.uniform(-1, 1, (10, 2))),
        "targets": structs(FLOAT2, rng.uniform(-1, 1, (13, 2))),
        "first": np.array([0, 6, 13], np.int64),
        "each": 5,
        "distance": zeros(10),
        "which": np.zeros(10, np.int64),
    }


_SCANNED = ("p.out", "p.last_state")

ROWS = (
    Program(
        "torch_extension.cu",
        "cell_forward<float>",
        _cell,
        ("new_cell.data_",),
        (2, 2),
        32,
        flat=frozenset({"new_cell.data_"}),
    ),
    Program("image_losses.cu", "covariance", _covariance, ("map",), (2, 3), (8, 8)),
    Program("image_losses.cu", "contrast", _contrast, ("map",), (1, 2), (16, 16)),
    Program("image_losses.cu", "triples", _triples, ("sums",), 1, 64),
    Program("image_losses.cu", "sampled", _sampled, ("out",), 2, 8),
    Program("image_losses.cu", "nearest", _nearest, ("distance", "which"), 2, 4),
    Program("torch_extension.cu", "huber<float>", _huber, ("loss",), 2, 16),
    Program("transformer_block.cu", "rms_norm", _rms, ("y",), 35, 128),
    Program("transformer_block.cu", "rope", _rope, ("qk",), 2, 32),
    Program("transformer_block.cu", "attention<16, true>", _attention, ("out",), (5, 4), (32, 2)),
    Program("transformer_block.cu", "gated_mlp<16>", _gated, ("out",), (2, 4), 16),
    Program("conv_layers.cu", "conv2d<3, 2, 4, Act::Gelu>", _conv, ("out",), (4, 4, 2), (4, 4)),
    Program("conv_layers.cu", "depthwise<3>", _depthwise, ("out",), 3, 64),
    Program("conv_layers.cu", "max_pool", _pool, ("out", "where"), 1, 32, tolerance=1e-2),
    Program(
        "regions.cu",
        "region_maxima",
        _region_maxima,
        ("out", "argmax"),
        1,
        16,
        tolerance=1e-2,
        flat=frozenset({"boxes"}),
    ),
    Program(
        "regions.cu", "line_maxima", _line_maxima, ("out", "at"), 1, 8, tolerance=1e-2, activity={"lines": "const"}
    ),
    Program("conv_layers.cu", "global_average", _average, ("out",), 3, 16, 16 * 4),
    Program("gru_sequence.cu", "gru_forward<32>", _gru, ("states",), 3, 32, tolerance=1e-2),
    Program("gru_sequence.cu", "head_loss<32>", _head, ("loss",), 4, 32, 5 * 4, tolerance=1e-2),
    Program(
        "selective_scan.cu",
        "selective_scan<Shape<64, 2, false, float>>",
        _scan,
        _SCANNED,
        (2, 2),
        64,
        3 * 8,
        flat=frozenset(_SCANNED),
    ),
    Program("state_recurrences.cu", "delta_rule<32>", _delta_rule, ("out",), 2, 32),
    Program("state_recurrences.cu", "decaying_scan", _decaying_scan, ("y",), (1, 2), 64),
    Program("state_recurrences.cu", "light_unit", _light_unit, ("cells", "out"), 2, 32),
    Program("half_precision.cu", "gemv_half2", _gemv, ("y",), 2, (32, 4)),
    Program("half_precision.cu", "embedding_bag", _bags, ("out",), 4, 8),
    Program("half_precision.cu", "layer_scale_residual<__half>", _residual, ("out",), 1, 32),
    Program("half_precision.cu", "distillation<__half>", _distilled, ("loss",), 3, 32),
)
