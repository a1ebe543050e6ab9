"""More kernels for the ablation: what a pass is worth does not show in the published applications alone.

Their sizes are ours, and their ratios are no figures of the performance page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import cupy as cp

from benchmarks.case import Args, Case, Floor, uniform
from cuda_kernels.case import Extent

_BLOCK = 128


def _pairs(first: str, second: str, out: str, n: int, *, double: bool = False) -> Callable[[], Args]:
    dtype = "float64" if double else "float32"

    def make() -> Args:
        arrays = {name: uniform(n, low=0.4, high=0.7, dtype=dtype) for name in (first, second)}
        return {**arrays, out: cp.zeros(n, dtype), "n": n}

    return make


def _spd(size: int, batch: int, *, double: bool) -> Callable[[], Args]:
    dtype = "float64" if double else "float32"

    def make() -> Args:
        root = uniform(batch, size, size, low=-1, dtype=dtype)
        matrices = cp.ascontiguousarray(root @ root.transpose(0, 2, 1) + 2 * cp.eye(size, dtype=dtype))
        arrays = {"matrices": matrices, "rhs": uniform(batch, size, dtype=dtype)}
        arrays |= {"solutions": cp.zeros((batch, size), dtype), "logdet": cp.zeros(batch, dtype)}
        return {**arrays, "ok": cp.zeros(batch, bool), "batch": batch}

    return make


def _qr(batch: int) -> Callable[[], Args]:
    def make() -> Args:
        outputs = {name: cp.zeros((batch, 3, 3)) for name in "qr"}
        return {"in": uniform(batch, 3, 3, dtype="float64") + 3 * cp.eye(3), **outputs, "batch": batch}

    return make


def _layer_norm(rows: int, columns: int, *, double: bool) -> Callable[[], Args]:
    dtype = "float64" if double else "float32"

    def make() -> Args:
        arrays = {"in": uniform(rows, columns, dtype=dtype), "out": cp.zeros((rows, columns), dtype)}
        arrays |= {name: uniform(columns, dtype=dtype) for name in ("gain", "bias")}
        return {**arrays, "rows": rows, "columns": columns, "epsilon": 1e-5}

    return make


def _mlp(n: int) -> Args:
    arrays = {"features": uniform(n, 8), "w1": uniform(4, 8), "w2": uniform(4), "out": cp.zeros(n, "float32")}
    return {**arrays, "n": n}


def _lookup(n: int, side: int) -> Args:
    arrays = {"table": uniform(side, side), "u": uniform(n), "v": uniform(n), "out": cp.zeros(n, "float32")}
    return {**arrays, "width": side, "height": side, "n": n}


def _csr(rows: int, each: int) -> Args:
    column = cp.random.default_rng().integers(0, rows, rows * each, dtype="int32")
    arrays = {"row_start": cp.arange(rows + 1, dtype="int32") * each, "column": column}
    arrays |= {"value": uniform(rows * each, dtype="float64"), "x": uniform(rows, dtype="float64")}
    return {"rows": rows, **arrays, "y": cp.zeros(rows)}


def _dense(rows: int, columns: int) -> Args:
    arrays = {"weight": uniform(rows, columns), "bias": uniform(rows), "in": uniform(columns)}
    return {**arrays, "out": cp.zeros(rows, "float32"), "rows": rows, "columns": columns}


def _covariance(height: int, width: int) -> Args:
    arrays = {name: uniform(height, width) for name in ("one", "other")}
    return {**arrays, "map": cp.zeros((height, width), "float32"), "height": height, "width": width}


def _wave(nx: int, ny: int, nz: int) -> Args:
    arrays = {"next": cp.zeros((nz, ny, nx), "float32"), "now": uniform(nz, ny, nx)}
    arrays |= {"vel2dt2": uniform(nz, ny, nx, low=0.1, high=0.2), "damp": uniform(nz, ny, nx, low=0.9)}
    return {**arrays, "nx": nx, "ny": ny, "nz": nz}


def _sampled(queries: int, channels: int, lengths: Sequence[int], points: int) -> Args:
    arrays = {"values": uniform(sum(lengths), channels), "lengths": cp.asarray(lengths, "int32")}
    arrays["begins"] = cp.cumsum(arrays["lengths"], dtype="int32") - arrays["lengths"]
    shape = (queries, len(lengths), points)
    arrays |= {"places": uniform(*shape, 2), "scores": uniform(*shape), "out": cp.zeros((queries, channels), "float32")}
    return {"n": queries * channels, **arrays, "channels": channels, "levels": len(lengths), "points": points}


def _rms(rows: int, dim: int) -> Args:
    arrays = {"x": uniform(rows, dim), "g": uniform(dim), "y": cp.zeros((rows, dim), "float32")}
    return {**arrays, "rows": rows, "dim": dim, "eps": 1e-6}


def _softmax(rows: int, columns: int) -> Args:
    return {"in": uniform(rows, columns), "out": cp.zeros((rows, columns), "float32"), "columns": columns}


def _at(name: str, artifact: str, size: str, args: Callable[[], Args], grid: Extent, block: Extent) -> Case:
    return Case(name, artifact, size, args, grid, block, math.inf, Floor(0.0))


def _case(name: str, artifact: str, size: str, args: Callable[[], Args], threads: int) -> Case:
    return _at(name, artifact, size, args, -(-threads // _BLOCK), _BLOCK)


_IMAGE = ((240, 135), (8, 8))
"""Of 1080 x 1920 pixels."""


CASES = (
    _case(
        "Kepler's equation",
        "kepler-kepler",
        "2^20 double",
        _pairs("mean_anomaly", "eccentricity", "eccentric_anomaly", 1 << 20, double=True),
        1 << 20,
    ),
    _case("mathematics", "math_mix-math_mix", "2^22 float", _pairs("a", "b", "out", 1 << 22), 1 << 22),
    _case(
        "mathematics",
        "math_mix_double-math_mix_double",
        "2^20 double",
        _pairs("a", "b", "out", 1 << 20, double=True),
        1 << 20,
    ),
    _case("Cholesky 4 x 4", "solve_spd_float", "2^20 float", _spd(4, 1 << 20, double=False), 1 << 20),
    _case("Cholesky 3 x 3", "solve_spd_double", "2^20 double", _spd(3, 1 << 20, double=True), 1 << 20),
    _case("QR 3 x 3", "qr3", "2^20 double", _qr(1 << 20), 1 << 20),
    _case("layer norm", "layer_norm_float", "2^15 x 512 float", _layer_norm(1 << 15, 512, double=False), 1 << 15),
    _case("layer norm", "layer_norm_double", "2^15 x 256 double", _layer_norm(1 << 15, 256, double=True), 1 << 15),
    _case("perceptron", "mlp", "2^21, 8 to 4 to 1, float", lambda: _mlp(1 << 21), 1 << 21),
    _case("bilinear lookup", "interpolation-lookup", "2^22, 1024^2 float", lambda: _lookup(1 << 22, 1024), 1 << 22),
    _case(
        "sparse product", "csr_product-csr_product<int, double>", "2^19 x 32 double", lambda: _csr(1 << 19, 32), 1 << 19
    ),
    _case("dense layer", "several_kernels-dense", "2^15 x 512 float", lambda: _dense(1 << 15, 512), 1 << 15),
    _at("covariance", "covariance", "1080 x 1920 float", lambda: _covariance(1080, 1920), *_IMAGE),
    _at("covariance, one image constant", "covariance_of_one", "1080 x 1920", lambda: _covariance(1080, 1920), *_IMAGE),
    _at("acoustic wave", "propagate", "520^2 x 136 float", lambda: _wave(520, 520, 136), (64, 128), (8, 4)),
    _at(
        "sampled levels",
        "sampled",
        "10,880 x 256, 4 levels, float",
        lambda: _sampled(10_880, 256, (4096, 1024, 256, 64), 4),
        4096,
        512,
    ),
    _at("RMS norm", "rms_norm", "8,192 x 1,024 float", lambda: _rms(8192, 1024), 2048, 128),
    replace(
        _at("softmax", "softmax_rows-softmax", "8,192 x 4,096 float", lambda: _softmax(8192, 4096), 8192, 1024),
        shared_bytes=4 * 1024,
    ),
)
