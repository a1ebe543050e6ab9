"""Flow of fluids at the sizes that Parboil's LBM, LULESH and the discontinuous Galerkin papers publish."""

from __future__ import annotations

from dataclasses import replace

import cupy as cp
import numpy as np

from benchmarks.case import FP64_FLOPS, Args, Case, Floor, TimeLoop, uniform
from cuda_kernels.cases.flow import (
    FLOAT3,
    FLUID,
    GEOMETRY,
    LATTICE,
    LID,
    LULESH_MATERIAL,
    MARGIN,
    MATERIAL,
    NODES,
    OBSTACLE,
    STATES,
    WEIGHTS,
    mesh,
)

NX, NY, NZ = 120, 120, 150
EDGE = 90
ELEMENTS = 20_000
_CELLS, _HEXAHEDRA = NX * NY * NZ, EDGE**3


def _lattice_args() -> Args:
    """The lid-driven cavity: walls around, two moving lids inside them, a fluid at rest with noise."""
    cells = np.full((NZ, NY, NX), OBSTACLE, np.uint8)
    cells[1:-1, 1:-1, 1:-1] = FLUID
    cells[(1, -2), 1:-1, 1:-1] = LID
    noise = uniform(len(WEIGHTS), NZ + 2 * MARGIN, NY, NX, low=0.95, high=1.05)
    populations = cp.asarray(np.array(WEIGHTS, np.float32))[:, None, None, None] * noise
    return {
        "src": populations,
        "dst": cp.zeros_like(populations),
        "cells": cp.asarray(cells),
        "lattice": np.array((NX, NY, NZ), LATTICE)[()],
        "omega": np.float32(1.95),
        "lid": np.array((0.005, 0.002, 0.0), FLOAT3)[()],
    }


def _hydro_args() -> Args:
    nodes, corners = mesh(EDGE)
    moved = cp.asarray(nodes.T) + uniform(3, len(nodes), low=-0.1, high=0.1, dtype="float64")
    given = {name: uniform(_HEXAHEDRA, low=0.1, dtype="float64") for name in ("ql", "qq", "e", "p", "q", "ss")}
    return {
        **{name: cp.ascontiguousarray(along) for name, along in zip("xyz", moved, strict=True)},
        **given,
        "corners": cp.asarray(corners),
        "volume_0": cp.ones(_HEXAHEDRA),
        "v": uniform(_HEXAHEDRA, low=0.9, high=1.1, dtype="float64"),
        "m": np.array(LULESH_MATERIAL, MATERIAL)[()],
        "elements": _HEXAHEDRA,
    }


def _volume_args() -> Args:
    nodes = (NODES, NODES, NODES)
    state = uniform(ELEMENTS, STATES, *nodes, low=0.8, high=1.2, dtype="float64")
    state[:, -1] += 5.0
    return {
        "state": state,
        "geometry": uniform(ELEMENTS, GEOMETRY, *nodes, low=0.5, high=1.5, dtype="float64"),
        "derivative": uniform(NODES, NODES, low=-1.0, dtype="float64"),
        "rhs": cp.zeros_like(state),
        "gravity": 0.1,
        "gamma": 1.4,
    }


_ON_A_TAPE = Case(
    "lattice Boltzmann D3Q19",
    "lbm_d3q19-collide_and_stream",
    "120 x 120 x 150 float, 100 steps on a tape",
    _lattice_args,
    (NY, NZ),
    NX,
    4.0,
    Floor(bytes=100 * (2 * 4 * 19 + 1) * _CELLS, flops=100 * 250.0 * _CELLS),
    runs=TimeLoop(100, "src", "dst"),
)

CASES = (
    Case(
        "lattice Boltzmann D3Q19",
        "lbm_d3q19-collide_and_stream",
        "120 x 120 x 150 float, 1 step",
        _lattice_args,
        (NY, NZ),
        NX,
        4.0,
        # Each population read and written once, and what a cell is; 250 operations a cell.
        Floor(bytes=(2 * 4 * 19 + 1) * _CELLS, flops=250.0 * _CELLS),
    ),
    _ON_A_TAPE,
    replace(
        _ON_A_TAPE,
        artifact="lbm_d3q19-collide_and_stream-dst-discarded",
        size="120 x 120 x 150 float, 100 steps on a tape, each into an array of its own",
        runs=TimeLoop(100, "src", "dst", renewed=True),
    ),
    Case(
        "hydrodynamics, state",
        "hydro_eos-update_elements",
        "edge 90, 729,000 elements, double",
        _hydro_args,
        -(-_HEXAHEDRA // 256),
        256,
        4.0,
        # Eight indices, seven numbers read and five written an element, three coordinates a node; 250 operations.
        Floor(
            bytes=(32 + 12 * 8) * _HEXAHEDRA + 24 * (EDGE + 1) ** 3, flops=250.0 * _HEXAHEDRA, flops_a_second=FP64_FLOPS
        ),
    ),
    Case(
        "discontinuous Galerkin",
        "dg_volume-volume_rhs-geometry-const-derivative-const",
        "order 4, 20,000 elements, double",
        _volume_args,
        ELEMENTS,
        (NODES, NODES),
        4.0,
        # State and geometry read, the right-hand side read and written at every node; 90 operations and 3 x 5 products.
        Floor(
            bytes=8 * (STATES * 3 + GEOMETRY) * NODES**3 * ELEMENTS,
            flops=(90.0 + 2 * 3 * NODES * STATES) * NODES**3 * ELEMENTS,
            flops_a_second=FP64_FLOPS,
        ),
    ),
)
