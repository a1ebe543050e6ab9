"""Particles, molecules and solids, as simulation codes write them."""

from __future__ import annotations

import numpy as np
from programs.draw import F32, F64, FLOAT3, Array, Rng, struct, structs
from programs.program import Args, Maker, Program


def _box(kind: type) -> np.dtype[np.void]:
    return np.dtype(
        [(name, kind) for name in ("lx", "ly", "lz")] + [(name, np.int32) for name in ("ncx", "ncy", "ncz")], align=True
    )


def _sorted_lattice(rng: Rng, kind: type) -> tuple[Array, Array, Array]:
    """Particles in the order of their cells, where each cell begins, and how many it has."""
    lattice = np.stack(np.unravel_index(np.arange(64), (4, 4, 4)), 1) * 1.5 + 0.75
    at = lattice + rng.uniform(-0.1, 0.1, (64, 3))
    cell = (at // 2).astype(int)
    number = (cell[:, 2] * 3 + cell[:, 1]) * 3 + cell[:, 0]
    at = at[np.argsort(number, kind="stable")]
    counts = np.bincount(number, minlength=27)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return at.astype(kind), starts.astype(np.int32), counts.astype(np.int32)


def _particles(rng: Rng, at: Array, kind: type) -> dict[str, Array]:
    n = len(at)
    arrays = {name: at[:, axis].copy() for axis, name in enumerate("xyz")}
    arrays |= {name: rng.standard_normal(n).astype(kind) for name in ("vx", "vy", "vz", "fx", "fy", "fz")}
    arrays |= {"charge": rng.choice([-1, 1], n).astype(kind), "mass": rng.uniform(1, 2, n).astype(kind)}
    return {**arrays, "type": rng.integers(0, 2, n).astype(np.uint32)}


def _forces(kind: type) -> Maker:
    def make(rng: Rng) -> Args:
        at, starts, counts = _sorted_lattice(rng, kind)
        return {
            "p": _particles(rng, at, kind),
            "box": struct(_box(kind), 6, 6, 6, 3, 3, 3),
            "table": {
                "epsilon": rng.uniform(0.5, 1, (2, 2)).astype(kind),
                "sigma": (rng.uniform(0.9, 1.1, (2, 2)) * (1.0 if kind is F64 else 0.5)).astype(kind),
                "ntypes": 2,
                "cutoff": 1.77,
                "krf": 0.05,
                "coulomb": 0.7,
            },
            "cell_start": starts,
            "cell_count": counts,
            "potential": np.zeros(64, kind),
            "virial": np.zeros(64, kind),
            "n": 64,
        }

    return make


def _kick(rng: Rng) -> Args:
    at = _sorted_lattice(rng, F64)[0]
    return {"p": _particles(rng, at, F64), "box": struct(_box(F64), 6, 6, 6, 3, 3, 3), "dt": 0.01, "n": 64}


_REAL3 = np.dtype([(name, F64) for name in "xyz"])
_CHARGED = np.dtype(
    [("position", [("x", F64), ("y", F64)]), ("momentum", _REAL3), ("weight", F64), ("species", np.int32)], align=True
)
_YEE = np.dtype([("nx", np.int32), ("ny", np.int32), ("dx", F64), ("dy", F64), ("dt", F64)], align=True)
_SU3 = np.dtype([("e", [("re", F64), ("im", F64)], (3, 3))])
_LATTICE = np.dtype([("n", np.int32, (4,))])


def _plasma(rng: Rng, n: int) -> Array:
    """Particles in the middle of cells."""
    plasma = np.zeros(n, _CHARGED)
    for name in "xy":
        plasma["position"][name] = rng.integers(0, 6, n) + rng.uniform(0.2, 0.8, n)
    plasma["momentum"] = structs(_REAL3, 0.5 * rng.standard_normal((n, 3)))
    plasma["weight"] = rng.uniform(0.5, 1, n)
    plasma["species"] = rng.integers(0, 2, n)
    return plasma


def _push(rng: Rng) -> Args:
    return {
        "particles": _plasma(rng, 40),
        "e_field": structs(_REAL3, rng.standard_normal((36, 3))),
        "b_field": structs(_REAL3, rng.standard_normal((36, 3))),
        "charge_over_mass": rng.standard_normal(2),
        "g": struct(_YEE, 6, 6, 1, 1, 0.1),
        "n": 40,
    }


def _deposit(rng: Rng) -> Args:
    return {
        "particles": _plasma(rng, 100),
        "charge": rng.standard_normal(2),
        "rho": np.zeros(36),
        "current": np.zeros(36, _REAL3),
        "g": struct(_YEE, 6, 6, 1, 1, 0.1),
        "n": 100,
    }


def _yee(rng: Rng) -> Args:
    fields = {name: structs(_REAL3, rng.standard_normal((36, 3))) for name in "ebj"}
    return {**fields, "g": struct(_YEE, 6, 6, 1, 1, 0.1)}


def _links(rng: Rng) -> Array:
    links = np.zeros(4 * 24, _SU3)
    links["e"]["re"] = np.eye(3) + 0.3 * rng.standard_normal((96, 3, 3))
    links["e"]["im"] = 0.3 * rng.standard_normal((96, 3, 3))
    return links


def _plaquettes(rng: Rng) -> Args:
    lattice = np.array([([3, 2, 2, 2],)], _LATTICE)[0]
    return {"links": _links(rng), "action": np.zeros(1), "beta": 6.0, "L": lattice, "volume": 24}


def _flow(rng: Rng) -> Args:
    lattice = np.array([([3, 2, 2, 2],)], _LATTICE)[0]
    links = {"links": _links(rng), "moved": np.zeros(4 * 24, _SU3)}
    return {**links, "eps": 0.1, "beta": 3.0, "L": lattice, "volume": 24, "mu": 2}


_SHELL = np.dtype(
    [("centre", F64, (3,)), ("exponent", F64, (3,)), ("coefficient", F64, (3,)), ("primitives", np.int32)], align=True
)
_NUCLEUS = np.dtype([("at", _REAL3), ("charge", F64)])


def _shells(rng: Rng) -> Array:
    shells = np.zeros(3, _SHELL)
    shells["centre"] = rng.uniform(-1, 1, (3, 3))
    shells["exponent"] = rng.uniform([0.15, 0.6, 3], [0.2, 0.7, 4], (3, 3))
    shells["coefficient"] = rng.uniform(0.3, 0.5, (3, 3))
    shells["primitives"] = [3, 2, 3]
    return shells


def _nuclei(rng: Rng) -> Array:
    nuclei = np.zeros(2, _NUCLEUS)
    nuclei["at"] = structs(_REAL3, rng.uniform(-1, 1, (2, 3)))
    nuclei["charge"] = rng.uniform(1, 2, 2)
    return nuclei


def _one_electron(rng: Rng) -> Args:
    matrices = {"overlap": np.zeros((3, 3)), "core": np.zeros((3, 3))}
    return {"shells": _shells(rng), "nuclei": _nuclei(rng), **matrices, "n": 3, "n_nuclei": 2}


def _fock(rng: Rng) -> Args:
    return {"shells": _shells(rng), "density": rng.standard_normal((3, 3)), "F": np.zeros((3, 3)), "n": 3}


def _energy(rng: Rng) -> Args:
    matrices = {name: rng.standard_normal((3, 3)) for name in ("density", "core", "F")}
    return {**matrices, "nuclei": _nuclei(rng), "result": np.zeros(1), "n": 3, "n_nuclei": 2}


_VEHICLE = np.dtype(
    [("mass", F32), ("arm", F32), ("inertia", FLOAT3)] + [(name, F32) for name in ("thrust", "torque", "drag", "lag")]
)
_CRAFT = np.dtype(
    [
        ("position", FLOAT3),
        ("velocity", FLOAT3),
        ("rate", FLOAT3),
        ("attitude", [(name, F32) for name in "wxyz"]),
        ("motor", F32, (4,)),
    ]
)
_OBSTACLE = np.dtype([("centre", FLOAT3), ("radius", F32)])


def _rollout(rng: Rng) -> Args:
    start, vehicle, obstacles = np.zeros(1, _CRAFT), np.zeros(1, _VEHICLE), np.zeros(2, _OBSTACLE)
    start["velocity"] = structs(FLOAT3, rng.uniform(-0.5, 0.5, (1, 3)))
    start["rate"] = structs(FLOAT3, rng.uniform(-0.5, 0.5, (1, 3)))
    start["attitude"]["w"] = 1
    start["motor"] = rng.uniform(7, 9, 4)
    for name, value in (("mass", 1), ("arm", 0.2), ("thrust", 0.038), ("torque", 0.001), ("drag", 0.1), ("lag", 0.05)):
        vehicle[name] = value
    vehicle["inertia"] = structs(FLOAT3, np.array([[0.1, 0.1, 0.2]]))
    obstacles["centre"] = structs(FLOAT3, rng.uniform(1, 2, (2, 3)))
    obstacles["radius"] = rng.uniform(0.2, 0.4, 2)
    return {
        "start": start,
        "controls": rng.uniform(7, 9, (8, 4)).astype(F32),
        "noise": (0.3 * rng.standard_normal((8, 4, 10))).astype(F32),
        "vehicle": vehicle,
        "obstacles": obstacles,
        "costs": np.zeros(10, F32),
        "last": np.zeros(10, _CRAFT),
        "goal": struct(FLOAT3, 2, 0, 1),
        "wind": struct(FLOAT3, 0.5, 0, 0),
        "n_obstacles": 2,
        "n_rollouts": 10,
        "horizon": 8,
        "dt": 0.02,
    }


def _soft_minimum(rng: Rng) -> Args:
    costs = {"costs": rng.uniform(1, 3, 50).astype(F32)}
    return {**costs, "weights": np.zeros(50, F32), "value": np.zeros(1, F32), "temperature": 0.5, "n": 50}


_FORCES = ("p.fx", "p.fy", "p.fz")
_UNUSED = frozenset({"p.mass", *_FORCES})

ROWS = (
    Program(
        "md_cells.cu", "md::forces<double, true>", _forces(F64), (*_FORCES, "potential", "virial"), 2, 32, flat=_UNUSED
    ),
    Program("md_cells.cu", "md::forces<float, false>", _forces(F32), _FORCES, 2, 32, flat=_UNUSED, tolerance=2e-2),
    Program(
        "md_cells.cu",
        "md::kick_drift<double>",
        _kick,
        ("p.x", "p.y", "p.z", "p.vx", "p.vy", "p.vz"),
        1,
        32,
        flat=frozenset({"p.charge"}),
    ),
    Program("plasma_pic.cu", "push", _push, ("particles",), 2, 32),
    Program("plasma_pic.cu", "deposit", _deposit, ("rho", "current"), 2, 32, 4 * 36 * 8),
    Program("plasma_pic.cu", "advance_e", _yee, ("e",), (1, 1), (8, 8)),
    Program("lattice_gauge.cu", "plaquette_action", _plaquettes, ("action",), 2, 16, activity={"beta": "active"}),
    Program("lattice_gauge.cu", "flow_step", _flow, ("moved",), 1, 32, activity={"eps": "active"}),
    Program("gaussian_integrals.cu", "qc::one_electron", _one_electron, ("overlap", "core"), 1, (4, 4)),
    Program("gaussian_integrals.cu", "qc::fock", _fock, ("F",), 1, 16),
    Program("gaussian_integrals.cu", "qc::energy", _energy, ("result",), 1, 8),
    Program("quadrotor_mpc.cu", "rollout", _rollout, ("costs", "last"), 1, 16, tolerance=2e-2),
    Program("quadrotor_mpc.cu", "soft_minimum", _soft_minimum, ("weights", "value"), 1, 16, tolerance=1e-2),
)
