"""Flow of fluids as applications compute it: lattice Boltzmann, Lagrangian hydrodynamics, discontinuous Galerkin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cuda_kernels.case import Args, Case
from cuda_kernels.draw import F64, Floats, Ints, Rng, normal, uniform, zeros

Structs = NDArray[np.void]

LATTICE = np.dtype([(name, "i4") for name in ("nx", "ny", "nz")])
FLOAT3 = np.dtype([(name, "f4") for name in "xyz"])
FLUID, OBSTACLE, LID = 0, 1, 2
MARGIN = 2
"""Layers of cells before and behind the lattice."""
_TWO = ((1, 1), (-1, 1), (1, -1), (-1, -1))
DIRECTIONS = (
    (0, 0, 0),
    *((0, 1, 0), (0, -1, 0), (1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1)),
    *((a, b, 0) for a, b in _TWO),
    *((0, a, b) for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))),
    *((a, 0, b) for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))),
)
WEIGHTS = tuple({0: 1 / 3, 1: 1 / 18, 2: 1 / 36}[sum(map(abs, step))] for step in DIRECTIONS)

MATERIAL = np.dtype(
    [(name, "f8") for name in ("e_cut", "p_cut", "q_cut", "v_cut", "e_min", "p_min", "v_min", "v_max", "density")]
)
LULESH_MATERIAL = (1e-7, 1e-7, 1e-7, 1e-10, -1e15, 0.0, 1e-9, 1e9, 1.0)
"""The published cut-offs and bounds."""
CORNERS = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))

NODES, STATES, GEOMETRY = 5, 5, 12
"""Nodes along an edge, unknowns, and factors of the geometry at a node of an element."""


def _collide_and_stream(src: Floats, dst: Floats, cells: Ints, lattice: Structs, omega: Floats, lid: Structs) -> None:
    nx, ny, nz = (int(lattice[name]) for name in ("nx", "ny", "nz"))
    inside = slice(MARGIN, MARGIN + nz)
    f = src[:, inside]
    steps = np.array(DIRECTIONS)
    rho = f.sum(axis=0)
    velocity = np.einsum("qa,qzyx->azyx", steps, f) / rho
    pushed = np.stack([lid[name] for name in "xyz"]).reshape(3, 1, 1, 1)
    velocity = np.where(cells == LID, pushed, velocity)
    rest = 1.0 - 1.5 * (velocity**2).sum(axis=0)
    places = MARGIN * nx * ny + np.arange(nx * ny * nz)
    for q, (step, weight) in enumerate(zip(DIRECTIONS, WEIGHTS, strict=True)):
        along = np.einsum("a,azyx->zyx", steps[q], velocity)
        equilibrium = weight * rho * (rest + along * (3.0 + 4.5 * along))
        back = f[DIRECTIONS.index((-step[0], -step[1], -step[2]))]
        collided = np.where(cells == OBSTACLE, back, (1.0 - omega) * f[q] + omega * equilibrium)
        dst[q].reshape(-1)[places + step[0] + nx * (step[1] + ny * step[2])] = collided.ravel()


def _lattice_args(rng: Rng) -> Args:
    """A closed box with an obstacle inside and a lid."""
    nx, ny, nz = 7, 6, 5
    cells = np.full((nz, ny, nx), OBSTACLE, np.uint8)
    cells[1:-1, 1:-1, 1:-1] = np.where(rng.random((nz - 2, ny - 2, nx - 2)) < 0.2, OBSTACLE, FLUID)  # noqa: PLR2004
    cells[-2, 1:-1, 1:-1] = LID
    weights = np.array(WEIGHTS)[:, None, None, None]
    populations = weights * rng.uniform(0.8, 1.2, (19, nz + 2 * MARGIN, ny, nx))
    arrays = {"src": populations.astype(np.float32), "dst": normal(rng, *populations.shape), "cells": cells}
    lid = np.array((0.05, 0.02, 0.0), FLOAT3)[()]
    return {**arrays, "lattice": np.array((nx, ny, nz), LATTICE)[()], "omega": np.float32(1.95), "lid": lid}


def _pressure(e: Floats, compression: Floats, v_new: Floats, m: Structs) -> tuple[Floats, Floats]:
    """Pressure, and its slope by energy."""
    slope = 2.0 / 3.0 * (compression + 1.0)
    p = np.where(np.abs(slope * e) < m["p_cut"], 0.0, slope * e)
    return np.maximum(np.where(v_new >= m["v_max"], 0.0, p), m["p_min"]), slope


def _speed(e: Floats, p: Floats, v: Floats, slope: Floats, density: Floats) -> Floats:
    squared = (2.0 / 3.0 * e + v * v * slope * p) / density
    tiny = squared <= 1.111111e-37  # noqa: PLR2004, as in the kernel
    return np.asarray(np.where(tiny, 3.333333e-19, np.sqrt(np.where(tiny, 1.0, squared))))


def _cut(e: Floats, m: Structs) -> Floats:
    return np.asarray(np.maximum(np.where(np.abs(e) < m["e_cut"], 0.0, e), m["e_min"]))


def _volume(n: Floats) -> Floats:
    """The volume of hexahedra from their corners, (8, elements, 3)."""
    terms = (
        ((n[3] - n[1]) + (n[7] - n[2]), n[6] - n[3], n[2] - n[0]),
        ((n[4] - n[3]) + (n[5] - n[7]), n[6] - n[4], n[7] - n[0]),
        ((n[1] - n[4]) + (n[2] - n[5]), n[6] - n[1], n[5] - n[0]),
    )
    return np.asarray(sum((a * np.cross(b, c)).sum(axis=-1) for a, b, c in terms) / 12.0)


def _update_elements(corners: Ints, volume_0: Floats, m: Structs, elements: int, **arrays: Floats) -> None:
    assert len(corners) == elements  # noqa: S101
    e, p, q, v, ql, qq = (arrays[name] for name in ("e", "p", "q", "v", "ql", "qq"))
    nodes = np.stack([arrays[name] for name in "xyz"], axis=-1)
    v_true = _volume(nodes[corners.T]) / volume_0
    change = v_true - v
    v_new = np.clip(v_true, m["v_min"], m["v_max"])
    far = v_new >= m["v_max"]
    compression = np.where(far, 0.0, 1.0 / v_new - 1.0)
    half = np.where(v_new <= m["v_min"], compression, 1.0 / (v_new - 0.5 * change) - 1.0)
    half = np.where(far, 0.0, half)
    old = np.where(far, 0.0, p) + q

    def viscosity(energy: Floats, pressure: Floats, volume: Floats, slope: Floats) -> Floats:
        return np.where(change > 0.0, 0.0, _speed(energy, pressure, volume, slope, m["density"]) * ql + qq)

    e_new = np.maximum(e - 0.5 * change * old, m["e_min"])
    p_half, slope = _pressure(e_new, half, v_new, m)
    q_half = viscosity(e_new, p_half, 1.0 / (1.0 + half), slope)
    e_new = _cut(e_new + 0.5 * change * (3.0 * old - 4.0 * (p_half + q_half)), m)
    p_new, slope = _pressure(e_new, compression, v_new, m)
    tilde = viscosity(e_new, p_new, v_new, slope)
    e_new = _cut(e_new - (7.0 * old - 8.0 * (p_half + q_half) + (p_new + tilde)) * change / 6.0, m)
    p_new, slope = _pressure(e_new, compression, v_new, m)
    q_new = viscosity(e_new, p_new, v_new, slope)
    e[:], p[:], q[:] = e_new, p_new, np.where(np.abs(q_new) < m["q_cut"], 0.0, q_new)
    arrays["ss"][:] = _speed(e_new, p_new, v_new, slope, m["density"])
    v[:] = np.where(np.abs(v_true - 1.0) < m["v_cut"], 1.0, v_true)


def mesh(edge: int) -> tuple[Floats, Ints]:
    """Nodes of edge^3 unit cubes, (nodes, 3), and the eight corners of each element."""
    at = np.stack(np.meshgrid(*[np.arange(edge + 1)] * 3, indexing="ij"), axis=-1)[..., ::-1].reshape(-1, 3)
    first = np.stack(np.meshgrid(*[np.arange(edge)] * 3, indexing="ij"), axis=-1)[..., ::-1].reshape(-1, 1, 3)
    places = first + np.array(CORNERS)
    return at.astype(np.float64), (places @ np.array([1, edge + 1, (edge + 1) ** 2])).astype(np.int32)


def _hydro_args(rng: Rng) -> Args:
    """Elements that are compressed and others that expand, far from every cut-off."""
    nodes, corners = mesh(4)
    size = len(corners)
    moved = nodes + rng.uniform(-0.1, 0.1, nodes.shape)
    known: Args = {name: np.ascontiguousarray(moved[:, axis]) for axis, name in enumerate("xyz")}
    known |= {"corners": corners, "volume_0": np.ones(size)}
    given = {name: uniform(rng, 0.1, 1.0, size, dtype=F64) for name in ("ql", "qq", "e", "p", "q")}
    given["v"] = _volume(moved[corners.T]) * (1.0 + rng.choice([-1.0, 1.0], size) * rng.uniform(0.02, 0.1, size))
    rest: dict[str, Any] = {"ss": zeros(size, dtype=F64), "m": np.array(LULESH_MATERIAL, MATERIAL)[()]}
    return {**known, **given, **rest, "elements": size}


def _volume_rhs(
    state: Floats, geometry: Floats, derivative: Floats, rhs: Floats, gravity: Floats, gamma: Floats
) -> None:
    """The flux's derivative along each of the three axes of the reference element, at every node."""
    rho, momentum, energy = state[:, 0], state[:, 1:4], state[:, 4]
    mass, inverse_mass, height = (geometry[:, factor] for factor in (9, 10, 11))
    velocity = momentum / rho[:, None]
    kinetic = 0.5 * (momentum * velocity).sum(axis=1)
    pressure = (gamma - 1.0) * (energy - kinetic - rho * gravity * height)
    flux = np.stack(
        [momentum, *[momentum * velocity[:, a, None] for a in range(3)], velocity * (energy + pressure)[:, None]], 1
    )
    for axis in range(3):
        flux[:, 1 + axis, axis] += pressure
    metric = geometry[:, :9].reshape(-1, 3, 3, NODES, NODES, NODES)
    along = mass[:, None, None] * np.einsum("erakji,esakji->erskji", metric, flux)
    change = np.einsum("mi,eskjm->eskji", derivative, along[:, 0])
    change += np.einsum("mj,eskmi->eskji", derivative, along[:, 1])
    change += np.einsum("mk,esmji->eskji", derivative, along[:, 2])
    change[:, 3] -= mass * rho * gravity
    rhs += inverse_mass[:, None] * change


def _volume_args(rng: Rng) -> Args:
    elements, nodes = 3, (NODES, NODES, NODES)
    state = normal(rng, elements, STATES, *nodes, dtype=F64)
    state[:, 0] = rng.uniform(0.8, 1.2, state[:, 0].shape)
    state[:, 4] = rng.uniform(5.0, 10.0, state[:, 4].shape)
    geometry = uniform(rng, 0.5, 1.5, elements, GEOMETRY, *nodes, dtype=F64)
    arrays = {"state": state, "geometry": geometry, "derivative": normal(rng, NODES, NODES, dtype=F64)}
    return {**arrays, "rhs": normal(rng, *state.shape, dtype=F64), "gravity": 0.3, "gamma": 1.4}


_LATTICE = Case("lbm_d3q19.cu", "collide_and_stream", _lattice_args, _collide_and_stream, grid=(6, 5), block=7)

CASES = (
    _LATTICE,
    replace(_LATTICE, activity={"dst": "discarded"}),
    Case("hydro_eos.cu", "update_elements", _hydro_args, _update_elements, grid=2, block=32),
    Case("dg_volume.cu", "volume_rhs", _volume_args, _volume_rhs, grid=3, block=(5, 5)),
    Case(
        "dg_volume.cu",
        "volume_rhs",
        _volume_args,
        _volume_rhs,
        grid=3,
        block=(5, 5),
        activity={"geometry": "const", "derivative": "const"},
    ),
)
