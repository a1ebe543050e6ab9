"""Sparse matrices, graphs, finite elements, equations of reactions."""

from __future__ import annotations

from typing import Any

import numpy as np
from programs.draw import F64, Array, Rng, structs
from programs.program import Args, Maker, Program

from cuda_kernels.draw import normal, uniform, zeros

_VEC3 = np.dtype([(name, F64) for name in "xyz"])
_MATERIAL = np.dtype([(name, F64) for name in ("mu", "lambda", "density")])
_LAW = np.dtype([(name, F64) for name in ("prefactor", "exponent", "activation")])
_INT4 = np.dtype([(name, np.int32) for name in "xyzw"])


def _rows(rng: Rng, n: int, integer: type = np.uint32) -> tuple[Array, Array]:
    """A matrix with a diagonal: where rows begin, and columns."""
    columns = [np.sort(np.unique(np.append(rng.permutation(n)[: rng.integers(1, 6)], i))) for i in range(n)]
    offsets = np.concatenate([[0], np.cumsum([len(c) for c in columns])])
    return offsets.astype(integer), np.concatenate(columns).astype(integer)


def _csr(rng: Rng) -> Args:
    offsets, columns = _rows(rng, 12)
    return {
        "n_rows": 12,
        "col_ids": columns,
        "row_ptr": offsets,
        "data": rng.standard_normal(len(columns)),
        "x": rng.standard_normal(12),
        "y": rng.standard_normal(12),
        "alpha": 1.5,
        "beta": 0.5,
    }


def _ell(rng: Rng) -> Args:
    columns = rng.integers(0, 20, (4, 20)).astype(np.int32)
    columns[2:, rng.integers(0, 20, 8)] = -1
    arrays = {"data": rng.standard_normal((4, 20)), "x": rng.standard_normal(20), "y": np.zeros(20)}
    return {"n_rows": 20, "width": 4, "col_ids": columns, **arrays}


def _coo(rng: Rng) -> Args:
    places = {name: rng.integers(0, 15, 70).astype(np.int32) for name in ("rows", "cols")}
    return {"nnz": 70, **places, "data": rng.standard_normal(70), "x": rng.standard_normal(15), "y": np.zeros(15)}


def _jacobi(rng: Rng) -> Args:
    offsets, columns = _rows(rng, 40)
    return {
        "n": 40,
        "col_ids": columns,
        "row_ptr": offsets,
        "data": rng.uniform(1, 2, len(columns)),
        "b": rng.standard_normal(40),
        "x": rng.standard_normal(40),
        "x_new": np.zeros(40),
        "omega": 0.8,
        "residual_norm": np.zeros(1),
    }


def _chebyshev(rng: Rng) -> Args:
    arrays = {name: rng.standard_normal(20) for name in ("p", "x", "r")}
    return {"n": 20, **arrays, "inverse_diagonal": rng.uniform(0.5, 1, 20), "lo": 0.5, "hi": 2.0, "it": 3}


def _graph(rng: Rng, n: int) -> dict[str, Any]:
    offsets, columns = _rows(rng, n, np.int64)
    return {
        "row_offsets": offsets,
        "column_indices": columns.astype(np.int32),
        "n_vertices": n,
        "n_edges": len(columns),
    }


def _edges(graph: dict[str, Any]) -> int:
    return int(graph["n_edges"])


def _diffuse(rng: Rng) -> Args:
    g = _graph(rng, 20)
    return {
        "g": g,
        "rank": uniform(rng, 0.1, 1, 20),
        "weight": uniform(rng, 0.5, 1, _edges(g)),
        "out_strength": uniform(rng, 1, 2, 20),
        "teleport": uniform(rng, 0.1, 1, 20),
        "next": zeros(20),
        "damping": 0.85,
    }


def _labels(rng: Rng) -> Args:
    g = _graph(rng, 20)
    arrays = {"score": normal(rng, 20, 3), "weight": normal(rng, _edges(g)), "mixing": normal(rng, 3, 3)}
    return {"g": g, **arrays, "out": zeros(20, 3)}


def _attended(rng: Rng) -> Args:
    """Logits on both slopes: queries cancel in the softmax where all are on one."""
    keys = np.where(np.arange(15) % 2 == 0, 1, -1).astype(np.float32) * uniform(rng, 0.5, 1, 15)
    arrays = {"features": normal(rng, 15, 6), "query": uniform(rng, -0.3, 0.3, 15), "key": keys}
    return {"g": _graph(rng, 15), **arrays, "out": zeros(15, 6), "width": 6, "slope": 0.2}


def _relax(rng: Rng) -> Args:
    g = _graph(rng, 20)
    arrays = {"distance": uniform(rng, 1, 5, 20), "length": uniform(rng, 0.5, 1, _edges(g)), "next": zeros(20)}
    return {"g": g, **arrays, "temperature": 0.5}


def _tets(rng: Rng) -> Args:
    rest = rng.uniform(-0.1, 0.1, (6, 3)) + np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 1, 0]])
    now = rest * 1.1 + rng.uniform(-0.05, 0.05, (6, 3))
    return {
        "rest": structs(_VEC3, rest),
        "now": structs(_VEC3, now),
        "tets": structs(_INT4, np.array([[0, 1, 2, 3], [1, 4, 2, 3], [0, 5, 2, 3]])),
        "materials": structs(_MATERIAL, rng.uniform(1, 2, (2, 3))),
        "material_of": rng.integers(0, 2, 3).astype(np.int16),
        "force": np.zeros(6, _VEC3),
        "mass": np.zeros(6),
        "energy": np.zeros(3),
        "n_elements": 3,
    }


def _integrate(rng: Rng) -> Args:
    n = 12
    height = np.where(np.arange(n) < 6, 2.0, 0.001)
    at = np.column_stack([rng.standard_normal((n, 2)), height])
    fixed = np.zeros(n, np.int8)
    fixed[2] = 1
    return {
        "x": structs(_VEC3, at),
        "v": structs(_VEC3, np.column_stack([rng.standard_normal((n, 2)), -rng.uniform(1, 2, n)])),
        "force": structs(_VEC3, rng.standard_normal((n, 3))),
        "mass": rng.uniform(1, 2, n),
        "fixed": fixed,
        "gravity": np.array([(0, 0, -9.81)], _VEC3)[0],
        "damping": 0.1,
        "dt": 0.01,
        "n": n,
    }


def _cells(rng: Rng, species: int, prefactors: list[float]) -> Args:
    laws = np.zeros(len(prefactors), _LAW)
    laws["prefactor"] = prefactors * rng.uniform(0.8, 1.2, len(prefactors))
    laws["exponent"] = rng.uniform(0.1, 0.5, len(prefactors))
    laws["activation"] = rng.uniform(10, 50, len(prefactors))
    return {"temperature": rng.uniform(280, 320, 10), "laws": laws, "state": rng.uniform(0.2, 1, (species, 10))}


def _implicit(rng: Rng) -> Args:
    """Newton goes on until nothing changes: what is left of its error is below that of the differences."""
    return {
        **_cells(rng, 3, [0.04, 3e3, 1e2]),
        "newton_count": np.zeros(10, np.int32),
        "dt": 0.1,
        "steps": 4,
        "tolerance": 1e-14,
        "cells": 10,
    }


def _rosenbrock(rng: Rng) -> Args:
    return {**_cells(rng, 5, [0.5, 2.0, 1.0, 0.7]), "dt": 0.1, "steps": 4, "cells": 10}


def _small_systems(*, singular: bool) -> Maker:
    def make(rng: Rng) -> Args:
        matrices = rng.standard_normal((10, 5, 5)) + 3 * np.eye(5)
        if singular:
            matrices[4] = 0
        results = {"solutions": np.ones((10, 5)), "info": np.ones(10, np.int32)}
        return {"matrices": matrices, "rhs": rng.standard_normal((10, 5)), **results, "count": 10}

    return make


def _fits(rng: Rng) -> Args:
    arrays = {"design": rng.standard_normal((8, 7, 3)), "target": rng.standard_normal((8, 7))}
    return {**arrays, "coefficients": np.zeros((8, 3)), "residual": np.zeros(8), "count": 8}


def _symmetric(rng: Rng) -> Args:
    return {"matrices": rng.standard_normal((8, 3, 3)), "values": np.zeros((8, 3)), "count": 8}


_GATES = np.dtype([(name, F64) for name in "mhn"])
_NEURON = np.dtype([(name, F64) for name in ("g_na", "g_k", "g_leak", "capacitance", "axial")])


def _neurons(rng: Rng) -> Args:
    neurons, compartments = 6, 5
    return {
        "voltage": rng.uniform(-66, -60, (compartments, neurons)),
        "gates": structs(_GATES, rng.uniform([0.05, 0.5, 0.3], [0.1, 0.6, 0.4], (compartments * neurons, 3))),
        "cells": structs(_NEURON, rng.uniform([110, 34, 0.2, 0.9, 1], [130, 38, 0.4, 1.1, 3], (neurons, 5))),
        "parent": np.array([-1, 0, 1, 1, 3], np.int32),
        "stimulus": rng.uniform(5, 15, neurons),
        "weights": rng.uniform(0, 1, (neurons, neurons)),
        "arrivals": rng.uniform(0, 1, neurons),
        "spikes": np.zeros(neurons),
        "neurons": neurons,
        "compartments": compartments,
        "inner_steps": 6,
        "dt": 0.025,
    }


_FLOW_CELLS = 30


def _flow(rng: Rng) -> Array:
    momentum = rng.uniform(-0.5, 0.5, (2, _FLOW_CELLS))
    return np.concatenate([rng.uniform(1, 2, (1, _FLOW_CELLS)), momentum, rng.uniform(4, 5, (1, _FLOW_CELLS))])


def _flow_step(rng: Rng) -> Args:
    arrays = {"variables": _flow(rng), "areas": rng.uniform(1, 2, _FLOW_CELLS), "step_factors": np.zeros(_FLOW_CELLS)}
    return {"nelr": _FLOW_CELLS, **arrays, "cfl": 0.5}


def _flux(rng: Rng) -> Args:
    neighbours = rng.integers(-3, _FLOW_CELLS, (4, _FLOW_CELLS)).astype(np.int32)
    normals = rng.standard_normal((2, 4, _FLOW_CELLS))
    normals[:, 3, ::3] = 0
    return {
        "nelr": _FLOW_CELLS,
        "neighbours": neighbours,
        "normals": normals,
        "variables": _flow(rng),
        "fluxes": np.zeros((4, _FLOW_CELLS)),
    }


def _runge_kutta(rng: Rng) -> Args:
    arrays = {name: rng.standard_normal((4, _FLOW_CELLS)) for name in ("old_variables", "variables")}
    factors = {"step_factors": rng.uniform(0.1, 0.2, _FLOW_CELLS)}
    return {"j": 2, "nelr": _FLOW_CELLS, **arrays, **factors, "fluxes": rng.standard_normal((4, _FLOW_CELLS))}


def _orbits(rng: Rng) -> Args:
    start = rng.uniform(-1, 1, (5, 4)) * np.array([3, 3, 1, 1])
    arrays = {"start": start.ravel(), "end": np.zeros(20), "masses": rng.uniform(0.5, 1, 3)}
    return {**arrays, "t_end": 1.5, "tol": 1e-4, "accepted": np.zeros(5, np.int32)}


ROWS = (
    Program("sparse_formats.cu", "spmv_csr_vector", _csr, ("y",), 3, 128),
    Program("sparse_formats.cu", "spmv_ell", _ell, ("y",), 1, 32),
    Program("sparse_formats.cu", "spmv_coo", _coo, ("y",), 2, 32),
    Program("sparse_formats.cu", "jacobi_csr", _jacobi, ("x_new", "residual_norm"), 2, 32),
    Program(
        "sparse_formats.cu", "chebyshev_step", _chebyshev, ("p", "x"), 1, 32, activity={"lo": "active", "hi": "active"}
    ),
    Program("graph_flows.cu", "diffuse", _diffuse, ("next",), 1, 32),
    Program("graph_flows.cu", "push_labels<3>", _labels, ("out",), 3, 64),
    Program("graph_flows.cu", "graph_attention", _attended, ("out",), 4, (4, 4)),
    Program("graph_flows.cu", "relax", _relax, ("next",), 1, 32, tolerance=1e-2),
    Program("fem_neo_hooke.cu", "element_forces", _tets, ("force", "mass", "energy"), 1, 32),
    Program("fem_neo_hooke.cu", "integrate", _integrate, ("x", "v"), 1, 32, activity={"damping": "active"}),
    Program("stiff_kinetics.cu", "chem::backward_euler<chem::Robertson>", _implicit, ("state", "newton_count"), 1, 16),
    Program(
        "stiff_kinetics.cu", "chem::rosenbrock<chem::Smog>", _rosenbrock, ("state",), 1, 8, activity={"dt": "active"}
    ),
    Program("unstructured_flow.cu", "compute_step_factor<double>", _flow_step, ("step_factors",), 1, 32),
    Program("unstructured_flow.cu", "compute_flux<double>", _flux, ("fluxes",), 1, 32, activity={"normals": "const"}),
    Program("unstructured_flow.cu", "time_step<double>", _runge_kutta, ("variables",), 1, 32),
    Program("batched_solvers.cu", "lu_refined", _small_systems(singular=False), ("solutions", "info"), 1, 4),
    Program(
        "batched_solvers.cu",
        "lu_refined",
        _small_systems(singular=True),
        ("solutions", "info"),
        1,
        4,
        activity={"matrices": "const"},
    ),
    Program("batched_solvers.cu", "householder_fit", _fits, ("coefficients", "residual"), 1, 8),
    Program("batched_solvers.cu", "jacobi_eigenvalues", _symmetric, ("values",), 1, 8),
    Program("neuron_cable.cu", "step_neurons", _neurons, ("voltage", "gates", "spikes"), 1, 8),
    Program(
        "orbits.cu",
        "orbits<double>",
        _orbits,
        ("end", "accepted"),
        1,
        8,
        activity={"t_end": "active"},
        flat=frozenset({"end"}),
    ),
)
