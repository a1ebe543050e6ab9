"""Numbers in half precision, by their bits, and beside indices in one vector."""

from __future__ import annotations

import numpy as np
from programs.draw import F32, FLOAT3, FLOAT4, Array, Rng, structs
from programs.program import Args, Program

from cuda_kernels.draw import normal, uniform, zeros

F16 = np.float16
_HALF2 = np.dtype([("x", F16), ("y", F16)])
_NODE = np.dtype([("lo", FLOAT4), ("hi", FLOAT4)])
_TRIANGLE = np.dtype([(name, FLOAT3) for name in ("a", "b", "c", "albedo")])
_RAY = np.dtype([("o", FLOAT3), ("d", FLOAT3)])


def _halves(values: Array) -> Array:
    return values.astype(F16)


def _norm(rng: Rng) -> Args:
    arrays = {"x": _halves(normal(rng, 3, 64)), "residual": _halves(normal(rng, 3, 64))}
    weight = {"weight": _halves(uniform(rng, 0.5, 1.5, 64)), "out": np.zeros((3, 64), F16)}
    return {**arrays, **weight, "width": 64, "eps": 1e-5}


def _gated(rng: Rng) -> Args:
    return {
        "gate_up": _halves(normal(rng, 3, 24)).view(_HALF2),
        "out": np.zeros((3, 12), F16).view(_HALF2),
        "rows": 3,
        "half_width": 6,
    }


def _int4(rng: Rng) -> Args:
    return {
        "weights": rng.integers(0, 2**32, (5, 16), dtype=np.uint32),
        "scales": _halves(uniform(rng, 0.01, 0.1, 5, 4)),
        "x": _halves(normal(rng, 128)),
        "y": zeros(5),
        "rows": 5,
        "cols": 128,
        "group": 32,
    }


def _turned(rng: Rng) -> Args:
    return {
        "x": _halves(normal(rng, 4, 12)).view(_HALF2),
        "frequency": _halves(uniform(rng, 0.2, 0.8, 6)),
        "out": np.zeros((4, 12), F16).view(_HALF2),
        "rows": 4,
        "pairs": 6,
    }


def _waves(rng: Rng) -> Args:
    """Away from zero, where the signed root jumps."""
    x = uniform(rng, 0.2, 2, 40) * rng.choice([-1, 1], 40).astype(F32)
    return {"x": x, "phase": uniform(rng, -3, 3, 40), "y": zeros(40), "n": 40}


def _decay(rng: Rng) -> Args:
    table = 2 ** (np.arange(32) / 32)
    return {
        "time": rng.uniform(0.5, 3, 40),
        "rate": rng.uniform(0.5, 2, 40),
        "table": table,
        "y": np.zeros(40),
        "n": 40,
    }


def _pairs(rng: Rng) -> Args:
    return {"x": rng.uniform(0, 5, 20), "energy": np.zeros(20), "box": 5.0, "n": 20}


def _seen(rng: Rng) -> Args:
    """All rays hit all triangles, which are apart, so that the nearest one stays it. Leaves have ~first and count."""
    nodes = np.zeros(3, _NODE)
    nodes["lo"], nodes["hi"] = structs(FLOAT4, np.full((3, 4), -99)), structs(FLOAT4, np.full((3, 4), 99))
    nodes["lo"]["w"] = np.array([1, ~0, ~3], np.int32).view(F32)
    nodes["hi"]["w"] = np.array([2, 3, 4], np.int32).view(F32)
    triangles = np.zeros(7, _TRIANGLE)
    depth = 4 + rng.permutation(7)[:, None] + rng.uniform(-0.1, 0.1, (7, 1))
    for name, corner in {"a": (-9, -9), "b": (9, -9), "c": (0, 12)}.items():
        flat = rng.uniform(-1, 1, (7, 2)) + corner
        triangles[name] = structs(FLOAT3, np.hstack([flat, depth]))
    triangles["albedo"] = structs(FLOAT3, uniform(rng, 0.1, 1, 7, 3))
    rays = np.zeros(20, _RAY)
    rays["o"] = structs(FLOAT3, uniform(rng, -0.2, 0.2, 20, 3))
    rays["d"] = structs(FLOAT3, np.hstack([uniform(rng, -0.2, 0.2, 20, 2), np.ones((20, 1))]))
    outputs = {"image": np.zeros(20, FLOAT3), "alpha": zeros(20)}
    return {"nodes": nodes, "triangles": triangles, "rays": rays, **outputs, "n": 20, "sharpness": 0.5}


ROWS = (
    Program("half_layers.cu", "rms_norm_residual<__half>", _norm, ("x", "out"), 3, 32),
    Program("half_layers.cu", "swiglu", _gated, ("out",), 1, 32),
    Program("half_layers.cu", "int4_gemv", _int4, ("y",), 2, (32, 4)),
    Program("half_layers.cu", "rotary", _turned, ("out",), 1, 32),
    Program("fast_functions.cu", "waves", _waves, ("y",), 2, 32, tolerance=1e-2),
    Program("fast_functions.cu", "decay", _decay, ("y",), 2, 32, activity={"table": "const"}),
    Program("fast_functions.cu", "pair_energy", _pairs, ("energy",), 1, 32, activity={"box": "active"}),
    Program(
        "packed_bvh.cu",
        "render",
        _seen,
        ("image", "alpha"),
        1,
        32,
        activity={"nodes": "const", "sharpness": "active"},
        tolerance=1e-2,
    ),
)
