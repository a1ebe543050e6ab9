"""C++ functions, with OpenMP and without."""

from __future__ import annotations

import numpy as np
from programs.draw import DOUBLE2, F32, F64, Array, Rng, struct, structs
from programs.program import Args, Program

from cuda_kernels.draw import normal, uniform, zeros

_PROBLEM = np.dtype([("rows", np.int32), ("columns", np.int32), ("ridge", F64)])
_PENDULUM = np.dtype([(name, F64) for name in ("m1", "m2", "l1", "l2")])
_CONTRACT = np.dtype([(name, F64) for name in ("spot", "strike", "expiry", "vol")])
_MARKET = np.dtype([(name, F64) for name in ("rate", "dividend", "skew")])
_LAYER = np.dtype([(name, F64) for name in ("n", "k", "thickness")])
_VEC = np.dtype([(name, F64) for name in "xyz"])


def _ridge(rng: Rng) -> Args:
    return {
        "x": rng.standard_normal((30, 4)),
        "y": rng.standard_normal(30),
        "w": rng.standard_normal(4),
        "p": np.array([(30, 4, 0.1)], _PROBLEM),
    }


def _logistic(rng: Rng) -> Args:
    return {
        "x": rng.standard_normal((30, 4)),
        "label": rng.integers(0, 2, 30).astype(np.int32),
        "w": rng.standard_normal(4),
        "p": struct(_PROBLEM, 30, 4, 0.1),
    }


def _process(rng: Rng) -> Args:
    return {
        "x": np.linspace(0, 4, 12) + rng.uniform(0, 0.2, 12),
        "y": rng.standard_normal(12),
        "hyper": rng.uniform(-1, 0, 3),
        "n": 12,
    }


def _net(rng: Rng) -> Args:
    return {
        "images": normal(rng, 6, 5),
        "labels": rng.integers(0, 3, 6).astype(np.int32),
        "w1": normal(rng, 7, 5),
        "w2": normal(rng, 3, 7),
        "count": 6,
        "inputs": 5,
        "hidden": 7,
        "classes": 3,
    }


def _simulate(rng: Rng) -> Args:
    return {
        "start": rng.standard_normal(4),
        "pendulum": structs(_PENDULUM, rng.uniform(0.5, 1.5, (1, 4))),
        "path": np.zeros((10, 4)),
        "steps": 10,
        "h": 0.02,
    }


def _heat_step(rng: Rng) -> Args:
    arrays = {"u": rng.standard_normal((7, 9)), "k": rng.uniform(0.5, 1, (7, 9)), "v": rng.standard_normal((7, 9))}
    return {**arrays, "nx": 9, "ny": 7, "r": 0.2}


def _heat_run(rng: Rng) -> Args:
    return {
        "u": rng.standard_normal((12, 9)),
        "k": rng.uniform(0.5, 1, (12, 9)),
        "nx": 9,
        "ny": 12,
        "r": 0.2,
        "steps": 5,
    }


def _contracts(rng: Rng, n: int) -> Array:
    return structs(
        _CONTRACT, np.column_stack([rng.uniform(80, 120, (n, 2)), rng.uniform(0.3, 2, n), rng.uniform(0.1, 0.3, n)])
    )


def _price(rng: Rng) -> Args:
    return {"c": _contracts(rng, 1), "m": np.array([(0.02, 0.01, -0.1)], _MARKET), "side": int(rng.integers(0, 2))}


def _book(rng: Rng) -> Args:
    return {
        "book": _contracts(rng, 20),
        "sides": rng.integers(0, 2, 20).astype(np.int8),
        "market": np.array([(0.02, 0.01, -0.1)], _MARKET),
        "values": np.zeros(20),
        "count": 20,
    }


def _planck(rng: Rng) -> Args:
    return {"temperature": rng.uniform(1, 2, 1), "low": 0.1, "high": 5.0}


def _moment(rng: Rng) -> Args:
    return {"weights": rng.standard_normal(5), "count": 5, "high": 3.0}


def _action(rng: Rng) -> Args:
    return {"parameters": rng.uniform(0.5, 1.5, 3), "energy": 9.0}


def _mismatch(rng: Rng) -> Args:
    """A pose that keeps samples away from the pixels' lines."""
    pose = np.array([0.01, 0.5, -0.5]) + rng.uniform(-0.005, 0.005, 3)
    return {"fixed": normal(rng, 6, 8), "moving": normal(rng, 6, 8), "pose": pose.astype(F32), "width": 8, "height": 6}


def _positions(rng: Rng, n: int) -> Array:
    return structs(_VEC, rng.standard_normal((n, 3)))


def _bonds(rng: Rng) -> Args:
    bonds = np.array([rng.permutation(10)[:2] for _ in range(12)], np.int32)
    return {"r": _positions(rng, 10), "bonds": bonds, "rest": rng.uniform(0.5, 1, 12), "count": 12, "stiffness": 3.0}


def _torsions(rng: Rng) -> Args:
    torsions = np.array([rng.permutation(10)[:4] for _ in range(12)], np.int32)
    return {"r": _positions(rng, 10), "torsions": torsions, "barrier": rng.uniform(0.5, 1, 12), "count": 12}


def _structure(rng: Rng) -> Args:
    return {
        "r": _positions(rng, 10),
        "form": rng.uniform(1, 2, 10),
        "k": _positions(rng, 4),
        "intensity": np.zeros(4),
        "atoms": 10,
        "waves": 4,
    }


def _plan(rng: Rng) -> Args:
    return {
        "orders": uniform(rng, 2, 4, 9),
        "demand": uniform(rng, 2, 4, 9),
        "holding": uniform(rng, 1, 2, 1),
        "penalty": uniform(rng, 1, 2, 1),
        "cost": zeros(1),
        "stock_path": zeros(9),
        "periods": 9,
    }


def _order(rng: Rng) -> Args:
    return {"demand": F32(rng.uniform(50, 100)), "setup": F32(5), "holding": F32(2)}


def _hmm(rng: Rng) -> Args:
    return {
        "start": rng.standard_normal(3),
        "transition": rng.standard_normal((3, 3)),
        "emission": rng.standard_normal((3, 4)),
        "symbols": rng.integers(0, 4, 14).astype(np.int32),
        "offsets": np.array([0, 3, 8, 14]),
        "sequences": 3,
        "states": 3,
        "alphabet": 4,
    }


def _charges(rng: Rng) -> Args:
    return {"x": rng.standard_normal(20), "q": rng.standard_normal(20), "n": 20, "eps": 0.2}


def _histogram(rng: Rng) -> Args:
    x = rng.integers(0, 5, 40) + rng.uniform(0.1, 0.9, 40)
    return {"x": x, "w": rng.standard_normal(40), "bins": np.zeros(4), "n": 40, "count": 4, "width": 1.0}


def _spectrum(rng: Rng) -> Args:
    layers = structs(_LAYER, rng.uniform([1.3, 0.01, 80], [2.2, 0.1, 140], (3, 3)))
    return {
        "layers": layers,
        "wavelengths": rng.uniform(400, 700, 10),
        "out": np.zeros(10),
        "count": 3,
        "points": 10,
        "substrate": 1.52,
        "angle": 0.3,
    }


def _objective(rng: Rng) -> Args:
    return {
        "weights": rng.uniform(0.1, 0.4, 4),
        "scenarios": rng.standard_normal((40, 4)),
        "expected": rng.standard_normal(4),
        "assets": 4,
        "count": 40,
        "level": 0.2,
        "aversion": 0.7,
    }


def _membrane(rng: Rng) -> Args:
    rest = np.stack(np.unravel_index(np.arange(16), (4, 4)), 1)
    squares = [(i, i + 1, i + 4, i + 5) for i in range(12) if i % 4 != 3]
    triangles = np.array([t for a, b, c, d in squares for t in ((a, b, c), (b, d, c))], np.int32)
    now = rest + rng.uniform(-0.1, 0.1, (16, 2))
    return {
        "rest": structs(DOUBLE2, rest.astype(F64)),
        "now": structs(DOUBLE2, now),
        "triangles": triangles,
        "moduli": rng.uniform(1, 2, 2),
        "count": len(triangles),
    }


def _contact(rng: Rng) -> Args:
    angle, distance = rng.uniform(0, 6, 20), rng.choice([0.5, 1.5], 20) + rng.uniform(-0.3, 0.3, 20)
    at = structs(DOUBLE2, np.stack([distance * np.cos(angle), distance * np.sin(angle)], 1))
    return {"now": at, "centre": np.zeros(1, DOUBLE2), "radius": np.ones(1), "stiffness": 3.0, "n": 20}


def _sample(rng: Rng) -> Args:
    return {"x": rng.standard_normal(60), "n": 60}


def _trimmed(rng: Rng) -> Args:
    return {**_sample(rng), "share": 0.1}


def _crossing(rng: Rng) -> Args:
    sample = _sample(rng)
    sample["x"][:4] = rng.uniform(-1, 1, 4)  # the first window does not cross: nothing would have influence
    return {**sample, "window": 4, "threshold": 1.2}


def _above(rng: Rng) -> Args:
    return {"x": rng.standard_normal(60), "p": 0.2, "n": 60}


def _elastic(rng: Rng) -> Args:
    arrays = {"x": rng.standard_normal((30, 4)), "y": rng.standard_normal(30), "w": rng.standard_normal(4)}
    return {**arrays, "rows": 30, "columns": 4, "share": 0.5}


def _ragged(rng: Rng) -> Args:
    lengths = rng.integers(1, 5, 30).astype(np.int32)
    return {
        "x": rng.standard_normal((30, 4)),
        "lengths": lengths,
        "w": rng.standard_normal(4),
        "rows": 30,
        "columns": 4,
    }


def _basis(rng: Rng) -> Args:
    return {
        "theta": rng.uniform(0.5, 1.5, 4),
        "coefficients": rng.standard_normal(8),
        "t": rng.uniform(0, 1, 15),
        "y": rng.standard_normal(15),
        "n": 15,
    }


def _poses(rng: Rng) -> Args:
    return {"p": rng.uniform(0.3, 1.3, 30), "x": rng.uniform(0.3, 1.3, 8), "out": np.zeros(5), "n": 8, "count": 5}


ROWS = (
    Program("regression.cpp", "ridge_loss", _ridge),
    Program("regression.cpp", "logistic_loss", _logistic, activity={"p": "active"}),
    Program("gaussian_process.cpp", "log_marginal_likelihood", _process),
    Program("neural_net.cpp", "net::loss", _net),
    Program("pendulum_ode.cpp", "simulate", _simulate, ("path",)),
    Program("heat_collapse.cpp", "heat_step", _heat_step, ("v",), activity={"r": "active"}),
    Program("heat_collapse.cpp", "heat_run", _heat_run, ("u",)),
    Program("option_book.cpp", "price", _price),
    Program("option_book.cpp", "price_book", _book, ("values",), flat=frozenset({"values"})),
    Program("quadrature.cpp", "planck_band", _planck, activity={"high": "active"}),
    Program("quadrature.cpp", "moment", _moment),
    Program("quadrature.cpp", "action", _action),
    Program("image_registration.cpp", "mismatch", _mismatch),
    Program("molecule.cpp", "bond_energy", _bonds, activity={"stiffness": "active"}),
    Program("molecule.cpp", "torsion_energy", _torsions),
    Program("molecule.cpp", "structure_factor", _structure, ("intensity",)),
    Program("inventory.cpp", "plan_cost", _plan, ("cost", "stock_path"), tolerance=3e-2),
    Program(
        "inventory.cpp", "economic_order", _order, activity={"demand": "active", "setup": "active", "holding": "active"}
    ),
    Program("hmm.cpp", "log_likelihood", _hmm),
    Program("particles_atomic.cpp", "potential_atomic", _charges),
    Program("particles_atomic.cpp", "histogram", _histogram, ("bins",)),
    Program("particles_atomic.cpp", "potential_private", _charges, activity={"eps": "active"}),
    Program("thin_film.cpp", "spectrum", _spectrum, ("out",), activity={"angle": "active"}, flat=frozenset({"out"})),
    Program("portfolio.cpp", "objective", _objective, activity={"aversion": "active"}),
    Program("contact.cpp", "total_energy", _membrane),
    Program("contact.cpp", "contact_energy", _contact),
    Program("order_statistics.cpp", "trimmed_mean", _trimmed),
    Program("order_statistics.cpp", "median_absolute_deviation", _sample),
    Program("order_statistics.cpp", "until_crossing", _crossing),
    Program("order_statistics.cpp", "above", _above),
    Program("regression.cpp", "elastic_net", _elastic),
    Program("regression.cpp", "ragged_loss", _ragged),
    Program(
        "grown_vectors.cpp",
        "torques",
        lambda rng: {"p": rng.uniform(0.3, 1.3, 24), "x": rng.uniform(0.3, 1.3, 8), "n": 8},
    ),
    Program("grown_vectors.cpp", "poses", _poses, ("out",), flat=frozenset({"out"})),
    Program("grown_vectors.cpp", "pyramid", lambda rng: {"x": rng.uniform(0.3, 1.3, 11), "n": 11}),
    Program(
        "grown_vectors.cpp",
        "swung",
        lambda rng: {"x": rng.normal(0, 1, (6, 3)), "rest": rng.uniform(0.5, 1, 5), "n": 6, "steps": 5},
    ),
    Program("closures.cpp", "misfit", _basis),
    Program(
        "closures.cpp",
        "chained",
        lambda rng: {"a": rng.uniform(0.5, 1, 7), "n": 7, "x": 0.3},
        activity={"x": "active"},
    ),
)
