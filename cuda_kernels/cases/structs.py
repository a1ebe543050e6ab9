"""Structs: by value, of pointers, in arrays, CUDA's vector types."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cuda_kernels.case import Args, Case, Pointers
from cuda_kernels.draw import F64, Floats, Rng, normal, uniform, zeros

Structs = NDArray[np.void]

LENS = np.dtype([("focal", "f4"), ("centre", "f4"), ("order", "i4"), ("distortion", "f4", (2,))])
PARTICLES = np.dtype(
    {
        "names": ["x", "v", "energy", "count"],
        "formats": ["u8", "u8", "u8", "i4"],
        "offsets": [0, 8, 16, 24],
        "itemsize": 32,
    }
)
NEURON = np.dtype([("potential", "f4"), ("recovery", "f4"), ("type", "i4"), ("current", "f4")])
FLOAT3 = np.dtype([(name, "f4") for name in "xyz"])
FLOAT4 = np.dtype([(name, "f4") for name in "xyzw"])


def _project(depth: Floats, height: Floats, pixel: Floats, lens: Structs, n: int) -> None:
    slope = height / depth
    bend = 1.0 + lens["distortion"][..., 0] * slope**2
    if lens["order"] > 1:
        bend = bend + lens["distortion"][..., 1] * slope**4
    pixel[:n] = lens["focal"] * slope * bend + lens["centre"]


def _project_args(rng: Rng) -> Args:
    lens = np.zeros((), LENS)
    lens["focal"], lens["centre"], lens["order"] = rng.uniform(0.5, 2.0), rng.normal(), rng.integers(1, 3)
    lens["distortion"] = rng.normal(0.0, 0.2, 2)
    arrays = {"depth": uniform(rng, 1.0, 3.0, 80), "height": normal(rng, 80), "pixel": zeros(80)}
    return {**arrays, "lens": lens[()], "n": 80}


def _hamiltonian(p: Pointers, omega: Floats) -> None:
    x, v = p.arrays["x"], p.arrays["v"]
    p.arrays["energy"][:] = 0.5 * v * v + 0.5 * omega * omega * x * x + 0.1 * x**3


def _hamiltonian_args(rng: Rng) -> Args:
    arrays = {name: normal(rng, 70, dtype=F64) for name in ("x", "v", "energy")}
    return {"p": Pointers(PARTICLES, arrays, {"count": 70}), "omega": 1.3}


def _fitzhugh(cells: Structs, n: int, dt: Floats) -> None:
    v, w = cells["potential"].copy(), cells["recovery"].copy()
    tau = np.where(cells["type"] == 0, 12.5, 8.0)
    cells["potential"][:n] = v + dt * (v - v**3 / 3.0 - w + cells["current"])
    cells["recovery"][:n] = w + dt * (v + np.float32(0.7) - np.float32(0.8) * w) / tau


def _fitzhugh_args(rng: Rng) -> Args:
    cells = np.zeros(75, NEURON)
    for name in ("potential", "recovery", "current"):
        cells[name] = rng.standard_normal(75)
    cells["type"] = rng.integers(0, 2, 75)
    return {"cells": cells, "n": 75, "dt": np.float32(0.05)}


def _field(body: Structs, probe: Structs, result: Structs, bodies: int, probes: int) -> None:
    assert len(body) == bodies  # noqa: S101
    apart = np.stack([body[axis][None, :] - probe[axis][:, None] for axis in "xyz"])
    weight = body["w"] * ((apart**2).sum(axis=0) + np.float32(0.01)) ** -1.5
    for axis, total in zip("xyz", (weight * apart).sum(axis=2), strict=True):
        result[axis][:probes] = total


def _field_args(rng: Rng) -> Args:
    body, probe, result = np.zeros(30, FLOAT4), np.zeros(20, FLOAT3), np.zeros(20, FLOAT3)
    for axis in "xyz":
        body[axis], probe[axis], result[axis] = rng.normal(size=30), rng.normal(size=20), rng.normal(size=20)
    body["w"] = rng.uniform(0.5, 1.5, 30)
    return {"body": body, "probe": probe, "result": result, "bodies": 30, "probes": 20}


CASES = (
    Case("struct_by_value.cu", "project", _project_args, _project, grid=3, block=32),
    Case(
        "struct_by_value.cu",
        "project",
        _project_args,
        _project,
        grid=3,
        block=32,
        activity={"lens": "active"},
        slack=50.0,
    ),
    Case("struct_of_arrays.cu", "hamiltonian", _hamiltonian_args, _hamiltonian, grid=3, block=32),
    Case("array_of_structs.cu", "fitzhugh", _fitzhugh_args, _fitzhugh, grid=3, block=32),
    Case("float4_bodies.cu", "field", _field_args, _field, grid=1, block=32, slack=3.0),
)
