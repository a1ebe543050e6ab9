"""Matrix products on Tensor Cores, by wmma and in PTX."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from programs.draw import Array, Rng
from programs.program import Args, Program

from cuda_kernels.draw import normal, zeros

F16, BF16 = np.float16, ml_dtypes.bfloat16
_BRAINS = np.dtype([("x", BF16), ("y", BF16)])


def _halves(rng: Rng, *shape: int) -> Array:
    return normal(rng, *shape).astype(F16)


def _brains(rng: Rng, *shape: int) -> Array:
    return normal(rng, *shape).astype(BF16)


def _tiled(rng: Rng) -> Args:
    factors = {"A": _halves(rng, 32, 48), "B": _halves(rng, 48, 64), "C": normal(rng, 32, 64)}
    return {**factors, "M": 32, "N": 64, "K": 48, "alpha": 0.5, "beta": -1.5}


def _linear(rng: Rng) -> Args:
    layer = {"x": _halves(rng, 16, 32), "weight": _halves(rng, 64, 32) / F16(4), "bias": _halves(rng, 64)}
    return {**layer, "y": np.zeros((16, 64), F16), "features_in": 32, "features_out": 64}


def _attention(rng: Rng) -> Args:
    heads = {"q": _halves(rng, 32, 16), "k": _halves(rng, 48, 16), "v": _halves(rng, 48, 16)}
    return {**heads, "o": zeros(32, 16), "keys": 48, "scale": 0.25}


def _chain(rng: Rng) -> Args:
    return {**{name: _brains(rng, 5, 16, 16) for name in "abc"}, "d": zeros(5, 16, 16), "batch": 5}


def _tf32(rng: Rng) -> Args:
    return {"a": normal(rng, 32, 24), "b": normal(rng, 24, 32), "c": zeros(32, 32), "m": 32, "n": 32, "k": 24}


def _gram(rng: Rng) -> Args:
    return {"a": rng.normal(size=(12, 16)), "c": rng.normal(size=(16, 16)), "rows": 12, "columns": 16}


def _convolution(rng: Rng) -> Args:
    image, filters = _halves(rng, 8, 8, 16), _halves(rng, 9, 16, 8) / F16(8)
    return {"image": image, "filters": filters, "out": np.zeros((8, 8, 8), F16), "width": 8, "height": 8}


def _wide(rng: Rng) -> Args:
    return {"a": _halves(rng, 2, 16, 8), "b": _halves(rng, 32, 16), "y": zeros(2, 8, 32), "s": 0.75}


def _buffered(rng: Rng) -> Args:
    return {"A": _halves(rng, 32, 64), "B": _halves(rng, 64, 32), "C": zeros(32, 32), "M": 32, "N": 32, "K": 64}


def _flash(rng: Rng) -> Args:
    return {**{name: _halves(rng, 2, 16, 16) for name in "qkv"}, "o": zeros(2, 16, 16), "scale": 0.36}


def _small(rng: Rng) -> Args:
    return {"a": _brains(rng, 3, 16, 8).view(_BRAINS), "b": _brains(rng, 3, 8, 8), "d": zeros(16, 8), "steps": 3}


def _small_tf32(rng: Rng) -> Args:
    return {"a": normal(rng, 16, 8), "b": normal(rng, 8, 8), "d": zeros(16, 8)}


ROWS = (
    Program("tensor_cores.cu", "gemm_tiled", _tiled, ("C",), (2, 1), 128),
    Program("tensor_cores.cu", "linear_gelu", _linear, ("y",), (1, 1), 64, shared_bytes=4096),
    Program("tensor_cores.cu", "attention", _attention, ("o",), 2, 32),
    Program("tensor_cores.cu", "batched_chain", _chain, ("d",), 2, 128),
    Program("tensor_cores.cu", "gemm_tf32", _tf32, ("c",), 1, 128, tolerance=0.1),
    Program("tensor_cores.cu", "gram_double", _gram, ("c",), (2, 2), 32),
    Program("tensor_cores.cu", "implicit_convolution", _convolution, ("out",), 2, 32),
    Program("tensor_cores.cu", "scaled_wide", _wide, ("y",), 2, 32, activity={"s": "active"}),
    Program("tensor_ptx.cu", "gemm_double_buffered", _buffered, ("C",), (2, 1), 64),
    Program("tensor_ptx.cu", "flash_block", _flash, ("o",), 2, 32),
    Program("tensor_ptx.cu", "small_brains", _small, ("d",), 1, 32),
    Program("tensor_ptx.cu", "small_tf32", _small_tf32, ("d",), 1, 32, tolerance=0.1),
)
