"""C++ programs with OpenMP at published sizes, with random data: what `benchmarks.openmp` measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from enzyme_driver.model import Activity

FOLDER = Path(__file__).resolve().parent / "host"

Rng = np.random.Generator
Arguments = dict[str, Any]

_ATOM = np.dtype([(name, np.float32) for name in "xyz"] + [("kind", np.int32)])
_KIND = np.dtype([(name, np.float32) for name in ("radius", "hydrophobicity", "charge", "hardness")])
_CORNERS = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))


@dataclass(frozen=True)
class HostCase:
    """A function of a file with arguments to measure it with, and few to check it with.

    `at_most` is the ratio of gradient to primal that is aimed at, by threads.
    """

    name: str
    file: str
    function: str
    size: str
    make: Callable[[Rng], Arguments]
    small: Callable[[Rng], Arguments]
    at_most: Mapping[int, float]
    activity: Mapping[str, Activity] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return FOLDER / self.file


def _atoms(rng: Rng, count: int, width: float) -> np.ndarray:
    atoms = np.zeros(count, _ATOM)
    for name in "xyz":
        atoms[name] = rng.uniform(-width, width, count)
    atoms["kind"] = rng.integers(0, 16, count)
    return atoms


def _docking(rng: Rng, proteins: int = 938, ligands: int = 26, poses: int = 2048) -> Arguments:
    kinds = np.zeros(16, _KIND)
    kinds["radius"] = rng.uniform(1.2, 2, 16)
    kinds["hydrophobicity"] = rng.uniform(-1, 1, 16)
    kinds["charge"] = rng.uniform(-0.5, 0.5, 16)
    kinds["hardness"] = rng.uniform(5, 40, 16)
    return {
        "protein": _atoms(rng, proteins, 25),
        "ligand": _atoms(rng, ligands, 5),
        "kinds": kinds,
        "poses": rng.uniform(-1, 1, (poses, 6)).astype(np.float32) * np.array([3, 3, 3, 20, 20, 20], np.float32),
        "energies": np.zeros(poses, np.float32),
        "proteins": proteins,
        "ligands": ligands,
        "count": poses,
    }


def _hydro(rng: Rng, edge: int = 30, steps: int = 10, rest: float = 1e-6, speed: float = 0) -> Arguments:
    points = edge + 1
    grid = np.stack(np.meshgrid(*[np.arange(points)] * 3, indexing="ij"), -1)
    number = np.arange(points**3).reshape((points,) * 3)
    corners = np.stack([number[i : i + edge, j : j + edge, k : k + edge].ravel() for i, j, k in _CORNERS], -1).astype(
        np.int32
    )
    around = np.full((points**3, 8), -1, np.int32)
    cells = np.arange(edge**3)
    for k in range(8):  # a node is corner k of at most one cell
        around[corners[:, k], k] = 8 * cells + k
    energy = np.full(edge**3, rest)
    energy[0] = 1.0
    spacing = 1.0 / edge
    return {
        "x": grid.reshape(-1, 3) * spacing + rng.uniform(-0.05, 0.05, (points**3, 3)) * spacing,
        "v": speed * rng.standard_normal((points**3, 3)),
        "energy": energy,
        "mass": np.full(edge**3, spacing**3),
        "corners": corners,
        "around": around,
        "cells": edge**3,
        "nodes": points**3,
        "steps": steps,
        "first_step": 1e-4,
    }


def _mixture(rng: Rng, d: int = 64, k: int = 100, n: int = 1000) -> Arguments:
    return {
        "alphas": rng.standard_normal(k),
        "means": rng.standard_normal((k, d)),
        "diagonal": rng.standard_normal((k, d)) * 0.1,
        "below": rng.standard_normal((k, d * (d - 1) // 2)) * 0.1,
        "x": rng.standard_normal((n, d)),
        "d": d,
        "k": k,
        "n": n,
        "prior": 1.0,
    }


def _vector(rng: Rng, n: int = 1_000_000) -> Arguments:
    return {"x": rng.standard_normal(n), "n": n}


def _equations(rng: Rng, rows: int = 4000, columns: int = 500) -> Arguments:
    return {
        "matrix": rng.standard_normal((rows, columns)),
        "x": rng.standard_normal(columns),
        "b": rng.standard_normal(rows),
        "rows": rows,
        "columns": columns,
    }


def _ode(rng: Rng, n: int = 1000, steps: int = 200) -> Arguments:
    return {"start": rng.uniform(0, 1, n), "rates": np.array([0.3, 1.0, 0.7]), "n": n, "steps": steps, "step": 0.01}


def _lstm(rng: Rng, units: int = 1024, steps: int = 100) -> Arguments:
    return {
        "weights": rng.standard_normal((4, units, 3)) * 0.5,
        "sequence": rng.standard_normal((steps, units)),
        "units": units,
        "steps": steps,
    }


def _diffusion(rng: Rng, n: int = 96, steps: int = 20) -> Arguments:
    return {"start": rng.uniform(0, 1, (n, n, n)).astype(np.float32), "n": n, "steps": steps, "rate": 0.1}


_SETTINGS = np.dtype(
    [(name, np.float64) for name in ("dx", "dt", "viscosity")] + [("n", np.int32), ("steps", np.int32)]
)


def _burgers(rng: Rng, n: int = 1_000_000, steps: int = 10) -> Arguments:
    settings = np.array((2e-6, 4e-7, 1e-6, n, steps), _SETTINGS)[()]
    return {"start": rng.uniform(0.5, 1.5, n), "s": settings}


def _membrane(rng: Rng, nx: int = 1024, ny: int = 1000, steps: int = 10) -> Arguments:
    return {"shape": rng.standard_normal((ny, nx)), "nx": nx, "ny": ny, "steps": steps, "courant": 0.4}


def _particles(rng: Rng, n: int = 1_000_000, steps: int = 5) -> Arguments:
    fields = {name: rng.standard_normal(n) for name in ("x", "y", "vx", "vy")}
    return {**fields, "n": n, "steps": steps, "dt": 0.01, "friction": 0.1}


def _product(rng: Rng, n: int = 384) -> Arguments:
    return {**{name: rng.standard_normal((n, n)).astype(np.float32) for name in "abc"}, "n": n}


CASES = (
    HostCase(
        *("hydrodynamics", "hydro.cpp", "hydro", "30^3 cells, 10 steps"),
        *(_hydro, partial(_hydro, edge=3, steps=3, rest=0.3, speed=0.1), {1: 5.0, 2: 5.0}),
    ),
    HostCase(
        *("docking", "docking.cpp", "docking", "938 x 26 atoms, 2,048 poses"),
        *(_docking, partial(_docking, proteins=40, ligands=3, poses=5), {1: 2.4, 2: 2.6}),
        activity={"ligand": "const", "kinds": "const", "poses": "const"},  # as in the published figures
    ),
    HostCase(
        *("docking, all inputs", "docking.cpp", "docking", "938 x 26 atoms, 2,048 poses"),
        *(_docking, partial(_docking, proteins=40, ligands=3, poses=5), {1: 2.4, 2: 2.6}),
    ),
    HostCase(
        *("Gaussian mixture", "mixture.cpp", "mixture", "d 64, k 100, n 1,000"),
        *(_mixture, partial(_mixture, d=4, k=3, n=7), {1: 3.3, 2: 3.3}),
    ),
    HostCase(
        *("Gaussian mixture, shared vectors", "mixture.cpp", "mixture_in_turn", "d 64, k 25, n 1,000"),
        *(partial(_mixture, k=25), partial(_mixture, d=4, k=3, n=7), {1: 3.3}),
    ),
    HostCase(
        *("LSTM", "small.cpp", "lstm", "1,024 units, 100 steps"),
        *(_lstm, partial(_lstm, units=3, steps=5), {1: 2.5}),
    ),
    HostCase(
        *("log-sum-exp", "small.cpp", "log_sum_exp", "n 1,000,000"),
        *(_vector, partial(_vector, n=20), {1: 1.5}),
    ),
    HostCase(
        *("least squares", "small.cpp", "least_squares", "4,000 x 500"),
        *(_equations, partial(_equations, rows=7, columns=5), {1: 1.4}),
        activity={"matrix": "const"},
    ),
    HostCase(
        *("ODE", "small.cpp", "ode", "1,000 unknowns, 200 steps"),
        *(_ode, partial(_ode, n=6, steps=5), {1: 2.0}),
    ),
    HostCase(
        *("diffusion", "loops.cpp", "diffusion", "96^3 float, 20 steps"),
        *(_diffusion, partial(_diffusion, n=5, steps=3), {1: 4.0, 2: 4.0}),
    ),
    HostCase(
        *("product by rows", "loops.cpp", "product", "384 x 384 float"),
        *(_product, partial(_product, n=5), {1: 4.0, 2: 4.0}),
    ),
    HostCase(
        *("Burgers", "steps.cpp", "burgers", "1,000,000 double, 10 steps"),
        *(_burgers, partial(_burgers, n=7, steps=3), {1: 4.0, 2: 4.0}),
    ),
    HostCase(
        *("membrane in a class", "steps.cpp", "membrane", "1,024 x 1,000 double, 10 steps"),
        *(_membrane, partial(_membrane, nx=6, ny=5, steps=3), {1: 4.0, 2: 4.0}),
    ),
    HostCase(
        *("struct of arrays", "steps.cpp", "particles", "1,000,000 particles, 5 steps"),
        *(_particles, partial(_particles, n=7, steps=3), {1: 4.0, 2: 4.0}),
    ),
)


def _decay(rng: Rng, n: int = 2_000_000) -> Arguments:
    return {"x": rng.uniform(0, 1, n), "y": np.zeros(n), "n": n, "rate": 0.3}


def _spring(rng: Rng, n: int = 2_000_000) -> Arguments:
    return {"x": rng.uniform(0, 1, n), "n": n, "stiffness": 0.3}


def _smoke(rng: Rng, n: int = 254) -> Arguments:
    shape = (n + 2, n + 2)
    fields = {
        name: rng.uniform(low, high, shape) for name, low, high in (("smoke", 0, 1), ("u", 0.2, 0.3), ("v", 0.2, 0.3))
    }
    return {**fields, "target": rng.uniform(0, 1, shape), "n": n, "steps": 3, "buoyancy": 0.5}


def _classes(rng: Rng, rows: int = 20_000, inputs: int = 4, classes: int = 5) -> Arguments:
    numbers = {"x": rng.standard_normal((rows, inputs)), "w": rng.standard_normal((classes, inputs))}
    label = rng.integers(0, classes, rows).astype(np.int32)
    return {**numbers, "label": label, "rows": rows, "inputs": inputs, "classes": classes}


FITS = (
    HostCase(
        *("decay by one rate", "one_parameter.cpp", "decay", "2,000,000 double"),
        *(_decay, partial(_decay, n=7), {1: 4.0, 2: 4.0}),
        activity={"rate": "active"},
    ),
    HostCase(
        *("springs of one stiffness", "one_parameter.cpp", "spring", "2,000,000 double"),
        *(_spring, partial(_spring, n=7), {1: 4.0, 2: 4.0}),
        activity={"stiffness": "active"},
    ),
    HostCase(
        *("smoke of one buoyancy", "../../tests/programs/stable_fluids.cpp", "smoke_loss", "256 x 256, 3 steps"),
        *(_smoke, partial(_smoke, n=6), {1: 4.0, 2: 4.0}),
        activity={"buoyancy": "active"},
    ),
    HostCase(
        *("Gaussian mixture, few numbers", "mixture.cpp", "mixture_in_turn", "d 2, k 5, n 10,000"),
        *(partial(_mixture, d=2, k=5, n=10_000), partial(_mixture, d=4, k=3, n=7), {1: 6.0}),
    ),
    HostCase(
        *("cross entropy, a vector a row", "rows.cpp", "cross_entropy", "20,000 rows, 4 inputs, 5 classes"),
        *(_classes, partial(_classes, rows=7), {1: 6.0}),
    ),
)
"""For the ablation alone: the derivative by a number that all iterations share, and iterations that allocate little."""
