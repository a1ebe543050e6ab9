"""C++ of engineers: class hierarchies, containers, exceptions."""

from __future__ import annotations

import numpy as np
from programs.draw import F64, Rng
from programs.program import Args, Program

_PART = np.dtype(
    [("kind", np.int32), ("a", np.int32), ("b", np.int32), ("catalogue", np.int32), ("value", F64), ("second", F64)]
)


def _netlist(rng: Rng) -> Args:
    """A ladder of three nodes, with a part from the catalogue at each."""
    parts = [(ord("I"), -1, 0, -1, rng.uniform(0.5, 1), 0.0)]
    for node in range(3):
        parts.append((ord("R"), node, -1, -1, rng.uniform(1, 2), 0.0))
        parts.append((ord("C"), node, -1, node, 0.0, 0.0))
        if node:
            parts.append((ord("L"), node - 1, node, -1, rng.uniform(0.5, 1), rng.uniform(0.1, 0.2)))
    swept = {"omegas": rng.uniform(0.5, 2, 4), "magnitude": np.zeros(4), "points": 4}
    return {"list": np.array(parts, _PART), "count": len(parts), "nodes": 3, **swept}


def _ladder(rng: Rng) -> Args:
    diodes = {"resistance": rng.uniform(0.5, 2, 4), "saturation": rng.uniform(0.05, 0.1, 4)}
    return {**diodes, "stages": 4, "drive": rng.uniform(1, 2)}


def _driven(rng: Rng) -> Args:
    return {"parameters": rng.uniform(0.5, 1, 5), "series": np.zeros(4), "n": 4}


def _stiff(rng: Rng) -> Args:
    start = {"u": rng.uniform(0.5, 1.5, 5), "v": rng.uniform(-0.5, 0.5, 5)}
    return {**start, "stiffness": rng.uniform(0.1, 0.2, 5), "n": 5, "h": 0.02, "steps": 4}


def _graph(rng: Rng) -> tuple[Args, Args]:
    """Six nodes in a ring with some more edges, by rows and by places."""
    wanted = (rng.uniform(size=(6, 6)) < 0.4) | (np.roll(np.eye(6), 1, 1) > 0)
    i, j = (each.astype(np.int32) for each in np.nonzero(wanted))
    rows = np.searchsorted(i, np.arange(7)).astype(np.int32)
    return {"rows": rows, "columns": j}, {"i": i, "j": j, "values": rng.uniform(0.2, 1, len(i))}


def _by_rows(rng: Rng) -> Args:
    rows, places = _graph(rng)
    return {**rows, "values": places["values"], "start": rng.standard_normal(6), "n": 6, "t": 0.5}


def _by_places(rng: Rng) -> Args:
    _, places = _graph(rng)
    return {**places, "start": rng.standard_normal(6), "n": 6, "entries": len(places["i"]), "t": 0.5}


def _ranked(rng: Rng) -> Args:
    rows, places = _graph(rng)
    return {**rows, "values": places["values"], "rank": np.zeros(6), "n": 6, "damping": 0.85, "sweeps": 4}


def _distances(rng: Rng) -> Args:
    rows, places = _graph(rng)
    return {**rows, "weights": places["values"], "n": 6, "source": 0, "distance": np.zeros(6)}


def _relaxed(rng: Rng) -> Args:
    _, places = _graph(rng)
    return {"from": places["i"], "to": places["j"], "weights": places["values"], "n": 6, "edges": len(places["i"])}


_BALL = np.dtype([(name, F64) for name in ("x", "y", "z", "radius", "red", "green", "blue", "shine")])


def _balls(rng: Rng) -> Args:
    """Two that fill the view from their sides, one of them a mirror."""
    balls = np.zeros(2, _BALL)
    balls["x"] = [-1.6, 1.6]
    balls["z"] = -3
    balls["radius"] = rng.uniform(1.4, 1.5, 2)
    for colour in ("red", "green", "blue"):
        balls[colour] = rng.uniform(0.3, 0.9, 2)
    balls["shine"] = [0.8, 0.2]
    return {"balls": balls, "count": 2, "light": rng.uniform([1, 2, 0.5], [2, 3, 1])}


def _traced(rng: Rng) -> Args:
    return {**_balls(rng), "image": np.zeros((2, 3, 3)), "width": 3, "height": 2}


def _bright(rng: Rng) -> Args:
    return {**_balls(rng), "n": 5}


def _laws(rng: Rng) -> Args:
    return {"parameters": rng.uniform(0.5, 1, 5), "x": rng.uniform(0.5, 1, 40), "forces": np.zeros(40), "n": 40}


ROWS = (
    Program("circuit.cpp", "sweep", _netlist, ("magnitude",), flat=frozenset({"magnitude"})),
    Program("circuit.cpp", "diode_ladder", _ladder, activity={"drive": "active"}),
    Program("driven_oscillators.cpp", "driven", _driven, ("series",)),
    Program("driven_oscillators.cpp", "stiff", _stiff, ("u", "v"), activity={"h": "active"}),
    Program("sparse_operators.cpp", "csr_exponential", _by_rows, activity={"t": "active"}),
    Program("sparse_operators.cpp", "coo_exponential", _by_places),
    Program(
        "sparse_operators.cpp",
        "page_rank",
        _ranked,
        ("rank",),
        activity={"damping": "active"},
        flat=frozenset({"rank"}),
    ),
    Program("sparse_operators.cpp", "shortest", _distances, ("distance",), flat=frozenset({"distance"})),
    Program("sparse_operators.cpp", "bellman_ford", _relaxed),
    Program("ray_tracer.cpp", "render", _traced, ("image",), flat=frozenset({"image"})),
    Program("ray_tracer.cpp", "brightness", _bright),
    Program("force_laws.cpp", "work", _laws, ("forces",), flat=frozenset({"forces"})),
)
