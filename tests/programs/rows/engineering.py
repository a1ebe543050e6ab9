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


ROWS = (
    Program("circuit.cpp", "sweep", _netlist, ("magnitude",), flat=frozenset({"magnitude"})),
    Program("circuit.cpp", "diode_ladder", _ladder, activity={"drive": "active"}),
)
