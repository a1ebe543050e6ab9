"""Geometry and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from programs.draw import F32, FLOAT2, FLOAT3, FLOAT4, INT3, Array, Rng, struct, structs
from programs.program import Args, Program

from cuda_kernels.draw import normal, uniform, zeros

_SPHERE = np.dtype(
    [
        ("center", FLOAT3),
        ("radius", F32),
        ("color", FLOAT3),
        ("emission", FLOAT3),
        ("roughness", F32),
        ("surface", np.int32),
    ]
)
_PRIMITIVE = np.dtype([("kind", np.int32), ("position", FLOAT3), ("size", F32, (3,)), ("blend", F32)])
_BONE = np.dtype({"names": ["turn", "shift"], "formats": [FLOAT4, FLOAT3], "itemsize": 32})
_CAMERA = np.dtype([*((name, F32) for name in ("focal", "k1", "k2", "cx", "cy")), ("place", FLOAT3)])
_INT4 = np.dtype([(name, np.int32) for name in "xyzw"])
_HALF2 = np.dtype([(name, np.float16) for name in "xy"])
_MANY = 1100  # threads, in more blocks of 32 than need be for tables
_WEIGHTS = 15 * 16 + 16 + 16 * 16 + 16 + 16 * 4 + 4


def _hill(rng: Rng, side: int) -> tuple[Array, Array]:
    """Points of a grid with heights, and its triangles."""
    i = np.arange(side * side)
    at = np.stack([i % side, i // side, np.sin(i)], 1) + rng.uniform(-0.2, 0.2, (side * side, 3))
    corners = [k for k in i if k % side < side - 1 and k // side < side - 1]
    triangles = [t for k in corners for t in ((k, k + 1, k + side), (k + 1, k + side + 1, k + side))]
    return structs(FLOAT3, at), structs(INT3, np.array(triangles))


def _corners(rng: Rng) -> Args:
    position, triangles = _hill(rng, 4)
    return {
        "position": position,
        "triangles": triangles,
        "normal": np.zeros(16, FLOAT3),
        "laplace": np.zeros(16, FLOAT3),
        "angle_sum": zeros(16),
        "area": zeros(16),
        "n_triangles": len(triangles),
    }


def _curvatures(rng: Rng) -> Args:
    vectors = {name: structs(FLOAT3, rng.standard_normal((20, 3))) for name in ("normal", "laplace")}
    numbers = {"angle_sum": uniform(rng, 5, 7, 20), "area": uniform(rng, 0.5, 1, 20)}
    return {**vectors, **numbers, "mean": zeros(20), "gauss": zeros(20), "n": 20}


def _smooth(rng: Rng) -> Args:
    position, _ = _hill(rng, 4)
    lengths = rng.integers(0, 5, 16)
    lengths[3] = 0
    return {
        "position": position,
        "normal": structs(FLOAT3, rng.standard_normal((16, 3))),
        "row": np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        "neighbour": rng.integers(0, 16, lengths.sum()).astype(np.int32),
        "moved": np.zeros(16, FLOAT3),
        "step": 0.5,
        "keep": 0.3,
        "n": 16,
    }


def _surface(rng: Rng) -> Args:
    position, triangles = _hill(rng, 4)
    mesh = {"triangles": triangles, "n_triangles": len(triangles), "n_vertices": 16}
    return {"position": position, "triangles": triangles, "energy": zeros(1), "mesh": mesh, "tension": 0.3}


def _vector(x: float, y: float, z: float) -> Any:  # noqa: ANN401  (a struct)
    return struct(FLOAT3, x, y, z)


def _paths(rng: Rng) -> Args:
    """A large sphere below, and one that fills the view: no path is near an edge."""
    spheres = np.zeros(2, _SPHERE)
    spheres["center"] = structs(FLOAT3, np.array([[0, -6.5, -3], [0, 0, -3]]))
    spheres["radius"] = [5, 2.4]
    spheres["color"] = structs(FLOAT3, rng.uniform(0.3, 0.9, (2, 3)))
    spheres["emission"] = structs(FLOAT3, rng.uniform(0.1, 0.3, (2, 3)))
    spheres["roughness"] = 0.3
    spheres["surface"] = [0, 2]
    return {
        "image": np.zeros(24, FLOAT3),
        "spheres": spheres,
        "n_spheres": 2,
        "eye": _vector(0, 0, 0),
        "sky": _vector(0.5, 0.7, 1),
        "w": 6,
        "h": 4,
        "samples": 2,
        "frame": int(rng.integers(0, 1000)),
    }


def _primitives(rng: Rng) -> dict[str, object]:
    things = np.zeros(4, _PRIMITIVE)
    things["kind"] = np.arange(4)
    things["position"] = structs(FLOAT3, rng.uniform([-0.5, -0.5, 3], [0.5, 0.5, 4], (4, 3)))
    things["size"] = rng.uniform(0.4, 0.6, (4, 3))
    things["size"][2, 1] = 0.2
    things["blend"] = [0.5, 0.5, 0.4, 0.3]
    return {"primitives": things, "count": 4, "floor": -1.5}


def _shade(rng: Rng) -> Args:
    return {
        "scene": _primitives(rng),
        "eye": _vector(0, 0, 0),
        "light": _vector(0.5, 1, -1),
        "image": zeros(4, 5),
        "width": 5,
        "height": 4,
    }


def _silhouette(rng: Rng) -> Args:
    return {
        "scene": _primitives(rng),
        "eye": _vector(0, 0, 0),
        "wanted": uniform(rng, 0, 1, 4, 5),
        "mask": zeros(4, 5),
        "loss": zeros(1),
        "sharpness": 3.0,
        "width": 5,
        "height": 4,
    }


def _radiance(rng: Rng) -> Args:
    n = 10
    rays = {
        "origins": structs(FLOAT3, rng.uniform(-0.1, 0.1, (n, 3))),
        "directions": structs(FLOAT3, rng.uniform(-0.5, 0.5, (n, 3))),
        "near_far": np.tile(np.array([0.5, 2.5], F32), n),
        "count": n,
    }
    return {
        "rays": rays,
        "weights": (0.4 * rng.standard_normal(_WEIGHTS)).astype(F32),
        "colors": np.zeros(n, FLOAT3),
        "depths": zeros(n),
        "samples": 6,
        "background": _vector(1, 1, 1),
    }


def _photometric(rng: Rng) -> Args:
    colours = rng.uniform(0, 1, (50, 3))
    target = colours + rng.choice([-1, 1], (50, 3)) * rng.choice([0.1, 0.5], (50, 3))
    return {
        "colors": structs(FLOAT3, colours),
        "target": target.astype(np.float16),
        "loss": zeros(1),
        "delta": 0.3,
        "n": 50,
    }


_BOX = np.dtype([(name, F32) for name in ("x", "y", "w", "h", "angle")])


def _boxes(rng: Rng) -> Args:
    centres = rng.uniform(-0.1, 0.1, (2, 20, 2))
    sizes = rng.uniform([2, 1], [2.5, 1.5], (2, 20, 2))
    angles = np.stack([rng.uniform(0, 0.1, (20, 1)), rng.uniform(0.5, 0.8, (20, 1))])
    predicted, wanted = (structs(_BOX, row) for row in np.concatenate([centres, sizes, angles], 2))
    return {"predicted": predicted, "wanted": wanted, "iou": zeros(20), "loss": zeros(20), "n": 20}


def _remapped(rng: Rng) -> Args:
    """Cells about as large as those of the grid, with corners away from its lines."""
    corners = np.array([(0.4, 0.4), (1.6, 0.4), (1.6, 1.6), (0.4, 1.6)]) + rng.integers(0, 4, (12, 1, 2))
    at = corners + rng.uniform(-0.2, 0.2, (12, 4, 2))
    return {
        "corner_of": structs(FLOAT2, at.reshape(-1, 2)),
        "value": uniform(rng, 1, 2, 12),
        "target": zeros(5, 5),
        "weight": zeros(5, 5),
        "cells": 12,
        "nx": 5,
        "ny": 5,
    }


_SUMS = ("normal", "laplace", "angle_sum", "area")


def _skin(rng: Rng) -> Args:
    """Vertices side by side have their bones in common."""
    skeleton = np.zeros(8, _BONE)
    skeleton["turn"], skeleton["shift"] = structs(FLOAT4, normal(rng, 8, 4)), structs(FLOAT3, normal(rng, 8, 3))
    bones = (np.arange(_MANY)[:, None] // 20 + rng.integers(0, 2, (_MANY, 4))) % 8
    return {
        "rest": structs(FLOAT3, rng.standard_normal((_MANY, 3))),
        "skeleton": skeleton,
        "weights": structs(FLOAT4, rng.dirichlet(np.ones(4), _MANY)),
        "bones": structs(_INT4, bones),
        "posed": np.zeros(_MANY, FLOAT3),
        "n": _MANY,
    }


def _observe(rng: Rng) -> Args:
    cameras = np.zeros(3, _CAMERA)
    for name, most in (("focal", 2), ("k1", 0.1), ("k2", 0.1), ("cx", 1), ("cy", 1)):
        cameras[name] = rng.uniform(-most, most, 3)
    cameras["place"] = structs(FLOAT3, rng.uniform(-0.5, 0.5, (3, 3)))
    points = rng.uniform(-1, 1, (_MANY, 3)) + np.array([0, 0, 3])
    seen_by = (np.arange(_MANY) // 40 % 3).astype(np.int32)
    pixels = np.zeros(_MANY, FLOAT2)
    return {"points": structs(FLOAT3, points), "cameras": cameras, "seen_by": seen_by, "pixels": pixels, "n": _MANY}


def _inside(rng: Rng, n: int, side: int) -> Array:
    """Points inside of cells, of which some have many."""
    return structs(FLOAT2, (rng.integers(0, side - 1, (n, 2)) // 2 + rng.uniform(0.2, 0.8, (n, 2))) / (side - 1))


def _features(rng: Rng) -> Args:
    table, out = normal(rng, 64, 2).astype(np.float16), np.zeros((_MANY, 2), np.float16)
    return {"at": _inside(rng, _MANY, 8), "table": table, "out": out, "side": 8, "n": _MANY}


def _embed(rng: Rng) -> Args:
    """Two short tables and a long one, with more blocks than need be for the block to have the short ones."""
    return {
        "kind": rng.integers(0, 5, _MANY).astype(np.int32),
        "neighbour": rng.integers(0, 3000, _MANY).astype(np.int32),
        "weight": uniform(rng, 0.5, 1, 5),
        "row": normal(rng, 5, 12),
        "charge": uniform(rng, 0.5, 1, 3000),
        "width": 12,
        "out": zeros(_MANY),
        "n": _MANY,
    }


def _splat(rng: Rng) -> Args:
    colour, image = (normal(rng, n, 2).astype(np.float16).view(_HALF2) for n in (60, 8))
    return {"at": _inside(rng, 60, 8), "colour": colour, "image": image, "side": 8, "n": 60}


ROWS = (
    Program("looked_up.cu", "skin", _skin, ("posed",), 35, 32),
    Program("looked_up.cu", "observe", _observe, ("pixels",), 35, 32),
    Program("looked_up.cu", "features<__half>", _features, ("out",), 35, 32),
    Program("looked_up.cu", "embed", _embed, ("out",), 35, 32),
    Program("looked_up.cu", "splat", _splat, ("image",), 2, 32),
    Program("mesh_curvature.cu", "accumulate_corners", _corners, _SUMS, 1, 32, tolerance=1e-2),
    Program("mesh_curvature.cu", "curvatures", _curvatures, ("mean", "gauss"), 1, 32),
    Program("mesh_curvature.cu", "smooth", _smooth, ("moved",), 1, 16, tolerance=1e-2),
    Program("mesh_curvature.cu", "surface_energy", _surface, ("energy",), 1, 16, tolerance=1e-2),
    Program("path_tracer.cu", "render", _paths, ("image",), (1, 1), (8, 8), tolerance=3e-2),
    Program("sdf_scene.cu", "sdf::shade", _shade, ("image",), (1, 1), (8, 8), tolerance=3e-2),
    Program("sdf_scene.cu", "sdf::silhouette", _silhouette, ("mask", "loss"), 1, 32, tolerance=1e-2),
    Program("neural_field.cu", "render_rays", _radiance, ("colors", "depths"), 1, 32, tolerance=1e-2),
    Program("neural_field.cu", "photometric", _photometric, ("loss",), 1, 32),
    Program("polygon_overlap.cu", "rotated_iou", _boxes, ("iou", "loss"), 1, 32, tolerance=2e-2),
    Program("polygon_overlap.cu", "remap", _remapped, ("target", "weight"), 1, 16, tolerance=2e-2),
)
