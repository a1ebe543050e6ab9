"""Particles and bodies."""

from __future__ import annotations

import numpy as np
from programs.draw import DOUBLE2, F32, F64, FLOAT3, FLOAT4, Array, Rng, struct, structs
from programs.program import Args, Program

from cuda_kernels.draw import uniform, zeros

_VEC3 = np.dtype([(name, F64) for name in "xyz"])
_MAT3 = np.dtype([("m", F64, (3, 3))])
_QUAT = np.dtype([(name, F64) for name in "wxyz"])
_SPRING = np.dtype([("a", np.int32), ("b", np.int32), ("rest", F32), ("stiffness", F32)])
_SPH = np.dtype(
    [(name, F64) for name in ("h", "stiffness", "rest_density", "viscosity")]
    + [("cells_x", np.int32), ("cells_y", np.int32), ("cell_size", F64)]
)
_PARTICLE = np.dtype(
    {
        "names": ["x", "vx", "vy", "weight", "id"],
        "formats": [F64, F64, F64, F32, np.uint32],
        "itemsize": 32,
    }
)
_LJ = np.dtype([("epsilon", F32), ("sigma", F32), ("rcut2", F32), ("box", F32)])


def _lj(rng: Rng) -> Args:
    """A shaken lattice: no pair is near, and none within a step of the cutoff."""
    n = 64
    lattice = 1.3 * np.stack(np.unravel_index(np.arange(n), (4, 4, 4)), 1)
    position = lattice + rng.uniform(-0.03, 0.03, (n, 3))
    at = structs(FLOAT4, np.column_stack([position, rng.choice([-1, 1], n)]))
    neighbours = np.array([rng.permutation(n)[:12] for _ in range(n)], np.int32)
    counts = rng.integers(8, 13, n).astype(np.int32)
    return {
        "pos": at,
        "neigh": neighbours,
        "n_neigh": counts,
        "force": np.zeros(n, FLOAT4),
        "energy": zeros(1),
        "p": struct(_LJ, 1.0, 1.1, 2.0**2, 5.2),
        "n": n,
        "max_neigh": 12,
    }


def _predator_prey(rng: Rng) -> Args:
    n = 70
    return {
        "prey0": uniform(rng, 0.5, 2, n),
        "predator0": uniform(rng, 0.5, 2, n),
        "rates": uniform(rng, 0.2, 1, n, 4),
        "prey": zeros(n),
        "predator": zeros(n),
        "n": n,
        "steps": 10,
        "h": 0.1,
    }


def _to_world(rng: Rng) -> Args:
    n, points = 5, 20
    q = structs(_QUAT, rng.standard_normal((n, 4)))
    origin, local = (structs(_VEC3, rng.standard_normal((count, 3))) for count in (n, points))
    return {
        "q": q,
        "origin": origin,
        "local": local,
        "world": np.zeros((n, points), _VEC3),
        "bodies": n,
        "points": points,
    }


def _springs(rng: Rng) -> Args:
    n, count = 20, 50
    springs = np.zeros(count, _SPRING)
    ends = np.array([rng.permutation(n)[:2] for _ in range(count)])
    springs["a"], springs["b"] = ends.T
    springs["rest"], springs["stiffness"] = rng.uniform(0.5, 1, count), rng.uniform(1, 2, count)
    x, v, f = (structs(FLOAT3, rng.standard_normal((n, 3))) for _ in range(3))
    return {"springs": springs, "x": x, "v": v, "f": f, "n_springs": count, "damping": 0.2}


def _verlet(rng: Rng) -> Args:
    x, old, f = (structs(FLOAT3, rng.standard_normal((40, 3))) for _ in range(3))
    return {"x": x, "x_old": old, "f": f, "pinned": rng.integers(0, 2, 40).astype(np.uint8), "n": 40, "dt": 0.1}


def _bodies(rng: Rng) -> Args:
    n = 20
    vectors = [structs(_VEC3, rng.standard_normal((n, 3))) for _ in range(5)]
    inertia = np.zeros(n, _MAT3)
    inertia["m"] = rng.standard_normal((n, 3, 3))
    arrays = {
        "position": vectors[0],
        "velocity": vectors[1],
        "orientation": structs(_QUAT, rng.standard_normal((n, 4))),
        "spin": vectors[2],
        "inverse_inertia": inertia,
    }
    return {
        "b": {**arrays, "count": n},
        "force": vectors[3],
        "arm": vectors[4],
        "mass": rng.uniform(1, 2, n),
        "dt": 0.05,
    }


def _cells(rng: Rng) -> tuple[Args, int]:
    """Shaken lattice in linked cells."""
    n = 36
    at = np.stack(np.unravel_index(np.arange(n), (6, 6)), 1) * 0.6 + rng.uniform(0.1, 0.4, (n, 2))
    cell = (at[:, 0].astype(int) + 4 * at[:, 1].astype(int)).astype(np.int32)
    heads, following = np.full(16, -1, np.int32), np.full(n, -1, np.int32)
    for i, c in enumerate(cell):
        following[i], heads[c] = heads[c], i
    return {"pos": structs(DOUBLE2, at), "cell": cell, "heads": heads, "next": following}, n


def _density(rng: Rng) -> Args:
    given, n = _cells(rng)
    p = struct(_SPH, 0.5, 2.0, 1.0, 0.1, 4, 4, 1.0)
    lists = {name: given[name] for name in ("cell", "heads", "next")}
    return {"pos": given["pos"], "mass": rng.uniform(0.5, 1, n), **lists, "rho": np.zeros(n), "p": p, "n": n}


def _sph_acceleration(rng: Rng) -> Args:
    given, n = _cells(rng)
    p = struct(_SPH, 0.5, 2.0, 1.0, 0.1, 4, 4, 1.0)
    lists = {name: given[name] for name in ("cell", "heads", "next")}
    return {
        "pos": given["pos"],
        "vel": structs(DOUBLE2, rng.standard_normal((n, 2))),
        "mass": rng.uniform(0.5, 1, n),
        "rho": rng.uniform(1, 2, n),
        **lists,
        "acc": np.zeros(n, DOUBLE2),
        "p": p,
        "n": n,
    }


def _particles(rng: Rng) -> Array:
    p = np.zeros(50, _PARTICLE)
    p["x"] = rng.integers(1, 15, 50) + rng.uniform(0.1, 0.9, 50)
    p["vx"], p["vy"] = rng.standard_normal((2, 50))
    p["weight"], p["id"] = rng.uniform(0.5, 1, 50), np.arange(50)
    return p


def _deposit(rng: Rng) -> Args:
    return {
        "particles": _particles(rng),
        "density": np.zeros(16),
        "current": rng.standard_normal(16),
        "count": 50,
        "cells": 16,
        "dx": 1.0,
    }


def _boris(rng: Rng) -> Args:
    return {
        "particles": _particles(rng),
        "field": rng.standard_normal(16),
        "bz": 0.5,
        "count": 50,
        "cells": 16,
        "dx": 1.0,
        "dt": 0.2,
    }


ROWS = (
    Program("lennard_jones.cu", "lj_forces", _lj, ("force", "energy"), 2, 32, tolerance=1e-2),
    Program(
        "lennard_jones.cu", "lj_forces", _lj, ("force", "energy"), 2, 32, activity={"p": "active"}, tolerance=3e-2
    ),  # steep in sigma and in the size of the box
    Program("rk4_predator_prey.cu", "integrate", _predator_prey, ("prey", "predator"), 1, 32),
    Program("rigid_body.cu", "to_world", _to_world, ("world",), (1, 5), 32),
    Program("cloth.cu", "spring_forces", _springs, ("f",), 2, 32, activity={"damping": "active"}),
    Program("cloth.cu", "verlet", _verlet, ("x", "x_old"), 2, 32),
    Program("rigid_body.cu", "step", _bodies, ("b.position", "b.velocity", "b.orientation", "b.spin"), 1, 32),
    Program("sph.cu", "density", _density, ("rho",), 2, 32),
    Program("sph.cu", "acceleration", _sph_acceleration, ("acc",), 2, 32),
    Program("pic.cu", "deposit", _deposit, ("density", "current"), 2, 8),
    Program("pic.cu", "boris", _boris, ("particles",), 2, 32, activity={"bz": "active"}),
)
