"""C++ with classes, containers and algorithms, with OpenMP and without."""

from __future__ import annotations

import numpy as np
from programs.draw import DOUBLE2, F64, Array, Rng, structs
from programs.program import Args, Program

_VEC3 = np.dtype([(name, F64) for name in "xyz"])
_CAMERA = np.dtype([("rotation", _VEC3), ("translation", _VEC3), ("focal", F64), ("k1", F64), ("k2", F64)])
_SEEN = np.dtype([("camera", np.int32), ("point", np.int32), ("u", F64), ("v", F64)])
_SAMPLE = np.dtype([(name, F64) for name in ("x", "y", "weight")])
_CASHFLOW = np.dtype([("time", F64), ("amount", F64), ("rating", np.int8)], align=True)


def _flood(rng: Rng) -> Args:
    arrays = {"permeability": rng.uniform(0.5, 2, (4, 5)), "porosity": rng.uniform(0.2, 0.3, (4, 5))}
    return {**arrays, "rate": rng.uniform(0.05, 0.06, 1), "nx": 5, "ny": 4, "steps": 3, "dt": 0.2}


def _scene(rng: Rng) -> Args:
    cameras = np.zeros(3, _CAMERA)
    cameras["rotation"] = structs(_VEC3, 0.2 * rng.standard_normal((3, 3)))
    cameras["translation"] = structs(_VEC3, rng.uniform([-0.1, -0.1, -6], [0.1, 0.1, -5], (3, 3)))
    cameras["focal"] = rng.uniform(4, 5, 3)
    cameras["k1"] = 0.1
    cameras["k2"] = 0.05
    seen = np.zeros(30, _SEEN)
    seen["camera"] = np.arange(30) % 3
    seen["point"] = np.arange(30) // 3
    seen["u"], seen["v"] = rng.uniform(-1, 1, (2, 30))
    points = structs(_VEC3, rng.uniform(-1, 1, (10, 3)))
    return {"cameras": cameras, "points": points, "observations": seen, "count": 30}


def _wide_scene(rng: Rng) -> Args:
    return {**_scene(rng), "width": 0.5}


def _diffusion(rng: Rng) -> Args:
    sensors = {"sensors": 0.1 * rng.standard_normal(4), "count": 4}
    return {"log_conductivity": 0.3 * rng.standard_normal(32), "n": 4, **sensors, "source": 9.0}


def _pairs(rng: Rng) -> Args:
    return {
        "rotation": structs(_VEC3, rng.uniform(0.05, 0.1, (1, 3))),
        "translation": structs(_VEC3, rng.uniform(0.5, 1, (1, 3))),
        "left": structs(DOUBLE2, rng.standard_normal((20, 2))),
        "right": structs(DOUBLE2, rng.standard_normal((20, 2))),
        "distances": np.zeros(20),
        "n": 20,
    }


def _samples(rng: Rng) -> Array:
    """Between the knots."""
    at = (rng.integers(0, 5, 30) + rng.uniform(0.1, 0.9, 30)) / 5
    return structs(_SAMPLE, np.column_stack([at, rng.standard_normal(30), rng.uniform(0.5, 1, 30)]))


def _smoothing(rng: Rng) -> Args:
    arrays = {"coefficients": rng.standard_normal(8), "samples": _samples(rng)}
    return {**arrays, "n_coefficients": 8, "n_samples": 30, "smoothing": 0.1}


def _monotone(rng: Rng) -> Args:
    return {"raw": rng.standard_normal(8), "samples": _samples(rng), "n_coefficients": 8, "n_samples": 30}


def _curve(rng: Rng) -> Args:
    angle = 2 * np.pi * np.arange(20) / 20
    radius = rng.uniform(0.8, 1.2, 20)
    points = {"px": radius * np.cos(angle), "py": radius * np.sin(angle)}
    return {**points, "kappa": np.zeros(20), "energy": np.zeros(1), "n": 20}


def _oscillator(rng: Rng) -> Args:
    return {"start": rng.uniform(0.5, 1, 2), "mu": 1.3, "duration": 1.0, "steps": 20}


def _glucose(rng: Rng) -> Args:
    return {
        "rates": rng.uniform(0.3, 0.6, 5),
        "start": rng.uniform(1.3, 1.5, 3),
        "measured": rng.uniform(1, 1.5, 8),
        "n": 8,
        "interval": 0.3,
    }


def _pendulums(rng: Rng) -> Args:
    arrays = {"start": rng.uniform(0.5, 1, (5, 2)), "lengths": rng.uniform(0.8, 1.2, 5), "end": np.zeros((5, 2))}
    return {**arrays, "taken": np.zeros(5, np.int32), "n": 5}


def _planets(rng: Rng) -> Args:
    arrays = {"state": rng.standard_normal((3, 4)), "mass": rng.uniform(0.5, 1, 3), "energy": np.zeros(1)}
    return {**arrays, "bodies": 3, "steps": 6, "h": 0.05}


def _smoke(rng: Rng) -> Args:
    """Velocities that take nothing across the middle of a cell."""
    fields = {
        "smoke": rng.uniform(0, 1, (8, 8)),
        "u": rng.uniform(0.2, 0.3, (8, 8)),
        "v": rng.uniform(0.2, 0.3, (8, 8)),
    }
    return {**fields, "target": rng.uniform(0, 1, (8, 8)), "n": 6, "steps": 3, "buoyancy": 0.5}


def _quotes(rng: Rng) -> Array:
    return 0.02 + 0.001 * np.arange(8) + rng.uniform(0, 5e-4, 8)


def _cashflows(rng: Rng) -> Args:
    flows = np.zeros(15, _CASHFLOW)
    flows["time"] = rng.uniform(0.3, 6, 15)
    flows["amount"] = rng.uniform(-10, 10, 15)
    flows["rating"] = [ord("ABCD"[i % 4]) for i in range(15)]
    return {"quotes": _quotes(rng), "flows": flows, "count": 15, "volatility": 0.01, "recovery": 0.4}


def _forwards(rng: Rng) -> Args:
    return {"quotes": _quotes(rng), "rates": np.zeros(6), "parallel_swaps": np.zeros(6), "n": 6}


_SHAPE = np.dtype(
    [("kind", np.int32), ("position", F64, (3,)), ("size", F64), ("colour", F64, (3,)), ("shine", F64)], align=True
)
_RATES = np.dtype([(name, F64) for name in ("transmission", "incubation", "recovery", "waning")])
_PLAN = np.dtype([("from", np.int32), ("to", np.int32), ("reduction", F64)])


def _things(rng: Rng) -> Args:
    """A sphere that fills the view in front of a plane, and a blob: no ray is near an edge."""
    shapes = np.zeros(3, _SHAPE)
    shapes["kind"] = [0, 1, 2]
    shapes["position"] = np.array([(0, 0, -6), (0, 1, 0), (0.5, 0.5, -3)]) + rng.uniform(-0.05, 0.05, (3, 3))
    shapes["size"] = [4.5, -8, 1]
    shapes["colour"] = rng.uniform(0.3, 0.9, (3, 3))
    shapes["shine"] = rng.uniform(3, 6, 3)
    return {"shapes": shapes, "light": rng.uniform([1, 2, 0], [2, 3, 1], 3)}


def _rendered(rng: Rng) -> Args:
    return {**_things(rng), "image": np.zeros((4, 5, 3)), "count": 3, "width": 5, "height": 4}


def _pictured(rng: Rng) -> Args:
    return {**_things(rng), "wanted": rng.uniform(0, 1, (4, 5, 3)), "count": 3, "width": 5, "height": 4}


def _people(rng: Rng) -> Args:
    return {"population": rng.uniform(900, 1100, 3), "contacts": rng.uniform(1, 5, (3, 3))}


def _spread(rng: Rng) -> Array:
    return structs(_RATES, rng.uniform([0.05, 0.3, 0.2, 0.01], [0.08, 0.4, 0.3, 0.02], (1, 4)))


def _outbreak(rng: Rng) -> Args:
    plan = np.zeros(2, _PLAN)
    plan["from"], plan["to"], plan["reduction"] = [3, 6], [6, 8], rng.uniform(0.2, 0.5, 2)
    return {
        "rates": _spread(rng),
        **_people(rng),
        "plan": plan,
        "delay": rng.uniform(0.1, 0.4, 3),
        "reported": rng.integers(0, 9, (10, 3)).astype(F64),
        "share": 0.4,
        "dispersion": 3.0,
        "groups": 3,
        "interventions": 2,
        "delays": 3,
        "days": 10,
    }


def _scenarios(rng: Rng) -> Args:
    given = {"transmission": rng.uniform(0.05, 0.08, 6), "base": _spread(rng), **_people(rng)}
    return {**given, "total": np.zeros(6), "peak": np.zeros(6), "count": 6, "groups": 3, "days": 6}


_ELEMENTS = np.dtype([(name, F64) for name in ("a", "e", "i", "node", "perigee", "mean")])
_TRACKED = np.dtype([("time", F64), ("range", F64), ("rate", F64), ("station", np.int32)], align=True)


def _elements(rng: Rng, n: int) -> Array:
    return structs(_ELEMENTS, rng.uniform([6800, 0.01, 0.5, 0.1, 0.1, 0.1], [7000, 0.02, 1, 1, 1, 1], (n, 6)))


def _tracking(rng: Rng) -> Args:
    seen = np.zeros(5, _TRACKED)
    seen["time"] = 40 * np.arange(1, 6)
    seen["range"] = rng.uniform(5e3, 6e3, 5)
    seen["rate"] = rng.uniform(-2, 2, 5)
    seen["station"] = np.arange(5) % 2
    stations = structs(_VEC3, np.array([[6378, 0, 0], [0, 6378, 0]]) + rng.uniform(-1, 1, (2, 3)))
    guess = {"guess": _elements(rng, 1), "ballistic": 0.02, "seen": seen, "stations": stations}
    return {**guess, "count": 5, "steps": 4}


def _footprint(rng: Rng) -> Args:
    drops = {"guesses": _elements(rng, 6), "ballistic": rng.uniform(0.01, 0.05, 6)}
    return {**drops, "latitude": np.zeros(6), "longitude": np.zeros(6), "n": 6, "span": 300.0}


ROWS = (
    Program("finite_elements.cpp", "misfit", _diffusion, activity={"source": "active"}),
    Program("reservoir.cpp", "reservoir::water_flood", _flood, activity={"dt": "active"}),
    Program("bundle_adjustment.cpp", "huber_cost", _scene),
    Program("bundle_adjustment.cpp", "cauchy_cost", _wide_scene, activity={"width": "active"}),
    Program("bundle_adjustment.cpp", "sampson", _pairs, ("distances",), flat=frozenset({"distances"})),
    Program("spline_fit.cpp", "penalised_loss", _smoothing, activity={"smoothing": "active"}),
    Program("spline_fit.cpp", "monotone_loss", _monotone),
    Program("spline_fit.cpp", "curvature", _curve, ("kappa", "energy")),
    Program("ode_library.cpp", "oscillator_energy", _oscillator, activity={"mu": "active", "duration": "active"}),
    Program("ode_library.cpp", "glucose_misfit", _glucose),
    Program("ode_library.cpp", "pendulum_end", _pendulums, ("end", "taken"), flat=frozenset({"end"})),
    Program("ode_library.cpp", "orbit", _planets, ("state", "energy"), activity={"h": "active"}),
    Program("stable_fluids.cpp", "smoke_loss", _smoke, activity={"buoyancy": "active"}),
    Program("yield_bootstrap.cpp", "portfolio_value", _cashflows, activity={"volatility": "active"}),
    Program("yield_bootstrap.cpp", "forwards", _forwards, ("rates", "parallel_swaps")),
    Program("orbit_determination.cpp", "orbit::fit", _tracking, activity={"ballistic": "active"}),
    Program(
        "orbit_determination.cpp",
        "orbit::footprint",
        _footprint,
        ("latitude", "longitude"),
        flat=frozenset({"latitude", "longitude"}),
    ),
    Program("scene_render.cpp", "scene::render", _rendered, ("image",), flat=frozenset({"image"})),
    Program("scene_render.cpp", "scene::picture_loss", _pictured),
    Program("epidemic_fit.cpp", "misfit", _outbreak, activity={"share": "active", "dispersion": "active"}),
    Program("epidemic_fit.cpp", "scenarios", _scenarios, ("total", "peak"), flat=frozenset({"total", "peak"})),
)
