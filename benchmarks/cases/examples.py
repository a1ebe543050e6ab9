"""The kernels of examples, each at one size: what those who read the examples start from must not become slow."""

from __future__ import annotations

import math
from collections.abc import Callable

import cupy as cp

from benchmarks.case import Args, Case, Floor, uniform
from cuda_kernels.case import Extent

_OPTIONS, _BODIES, _PIXELS, _LOOKS = 1 << 22, 1 << 14, 1 << 17, 8
_STEPS, _SAMPLES, _HIDDEN, _CLASSES, _WARP = 100, 1 << 14, 20, 10, 32
_ROWS = 1 << 10


def _price() -> Args:
    arrays = {name: uniform(_OPTIONS, low=0.2) for name in ("spot", "strike", "rate", "vol", "maturity")}
    return {**arrays, "is_call": cp.ones(_OPTIONS, "int32"), "price": cp.zeros(_OPTIONS, "float32"), "n": _OPTIONS}


def _heat(*shape: int) -> Callable[[], Args]:
    def make() -> Args:
        arrays = {name: uniform(*shape, dtype="float64") for name in ("u", "next")}
        return {**arrays, **dict(zip(("nx", "ny", "nz"), shape, strict=False)), "r": 0.1, "beta": 0.2}

    return make


def _bodies() -> Args:
    arrays = {"position": uniform(_BODIES, 3, dtype="float64"), "mass": uniform(_BODIES, dtype="float64")}
    return {**arrays, "share": cp.zeros(_BODIES), "bodies": _BODIES, "softening": 0.1}


def _dense() -> Args:
    arrays = {"x": (_ROWS, _ROWS), "weights": (_ROWS, _ROWS), "biases": (_ROWS,), "y": (_ROWS, _ROWS)}
    numbers = dict.fromkeys(("rows", "inputs", "outputs"), _ROWS)
    return {**{name: uniform(*shape, dtype="float64") for name, shape in arrays.items()}, **numbers}


def _kinetics() -> Args:
    arrays = {"log_rates": uniform(_PIXELS, 2, low=-1.0, dtype="float64"), "seen": cp.zeros((_PIXELS, _LOOKS, 2))}
    return {**arrays, "times": cp.arange(1.0, _LOOKS + 1.0), "pixels": _PIXELS, "looks": _LOOKS}


def _layer() -> Args:
    shapes = {"hidden_weight": (_HIDDEN, _HIDDEN), "input_weight": (_HIDDEN,), "bias": (_HIDDEN,)}
    return {name: uniform(*shape, low=-0.3, high=0.3) for name, shape in shapes.items()}


def _step() -> Args:
    states = {name: uniform(_SAMPLES, _HIDDEN) for name in ("state", "next_state")}
    return {**_layer(), **states, "bits": uniform(_SAMPLES), "samples": _SAMPLES}


def _sequence() -> Args:
    arrays = {"states": uniform(_STEPS + 1, _SAMPLES, _HIDDEN), "bits": uniform(_STEPS, _SAMPLES)}
    return {**_layer(), **arrays, "steps": _STEPS, "samples": _SAMPLES}


def _classify() -> Args:
    arrays = {"state": uniform(_SAMPLES, _HIDDEN), "weight": uniform(_CLASSES, _HIDDEN), "bias": uniform(_CLASSES)}
    return {**arrays, "label": cp.zeros(_SAMPLES, "int32"), "loss": uniform(_SAMPLES), "samples": _SAMPLES}


def _case(artifact: str, kernel: str, size: str, args: Callable[[], Args], grid: Extent, block: Extent) -> Case:
    return Case(kernel, artifact, size, args, grid, block, math.inf, Floor(0.0))


CASES = (
    _case("black_scholes", "price", "2^22 float", _price, _OPTIONS // 256, 256),
    _case("heat2d", "step", "4096^2 double", _heat(4096, 4096), (128, 512), (32, 8)),
    _case("heat3d", "step", "256^3 double", _heat(256, 256, 256), (8, 64, 128), (32, 4, 2)),
    _case("nbody", "energy", "16,384 double", _bodies, _BODIES // 128, 128),
    _case("dense", "dense", "1024^3 double", _dense, (64, 64), (16, 16)),
    _case("kinetics", "kinetics", "2^17 pixels, 8 looks, double", _kinetics, _PIXELS // 128, 128),
    _case("rnn", "rnn_step", "16,384 samples", _step, _SAMPLES // 128, 128),
    _case("rnn", "rnn_sequence", "16,384 samples, 100 steps", _sequence, _SAMPLES, _WARP),
    _case("rnn", "classify", "16,384 samples", _classify, _SAMPLES // 128, 128),
)
"""By the names of kernels. Of examples/radiance_field `programs` has a case, examples/splatting its own launches."""
