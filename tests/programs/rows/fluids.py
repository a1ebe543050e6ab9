"""Fields and fluids."""

from __future__ import annotations

import numpy as np
from programs.draw import F64, FLOAT3, INT3, Rng, struct, structs
from programs.program import Args, Maker, Program

from cuda_kernels.draw import normal, uniform, zeros

_STATE = np.dtype([("h", F64), ("hu", F64), ("hv", F64)])
_CONS = np.dtype([("rho", F64), ("mom", F64), ("ene", F64)])
_BOX = np.dtype([("nx", np.int32), ("ny", np.int32), ("nz", np.int32)])
_GRID = np.dtype([("dims", INT3), ("origin", FLOAT3), ("spacing", FLOAT3)])


def _update_h(rng: Rng) -> Args:
    arrays = {name: normal(rng, 9, 14) for name in ("ez", "hx", "hy")}
    return {**arrays, "mu": uniform(rng, 0.5, 2, 9, 14), "nx": 14, "ny": 9, "dtdx": 0.5}


def _update_e(rng: Rng) -> Args:
    arrays = {name: normal(rng, 9, 14) for name in ("ez", "hx", "hy")}
    arrays |= {"eps": uniform(rng, 0.5, 2, 9, 14), "sigma": uniform(rng, 0.1, 0.5, 9, 14)}
    return {**arrays, "nx": 14, "ny": 9, "dtdx": 0.5, "dt": 0.4}


def _advance(rng: Rng) -> Args:
    n = 11 * 9
    h = rng.uniform(1, 2, n)
    momentum = 0.5 * rng.standard_normal((n, 2))
    state = structs(_STATE, np.column_stack([h, momentum]))
    return {
        "in": state,
        "bed": rng.uniform(0, 0.2, n),
        "out": np.zeros(n, _STATE),
        "nx": 11,
        "ny": 9,
        "dt": 0.001,
        "dx": 0.1,
    }


def _euler(limiter: int) -> Maker:
    def make(rng: Rng) -> Args:
        n = 40
        rho, u, p = rng.uniform(0.5, 1.5, n), rng.uniform(-2, 2, n), rng.uniform(0.5, 1.5, n)
        energy = p / 0.4 + 0.5 * rho * u * u
        state = structs(_CONS, np.column_stack([rho, rho * u, energy]))
        return {"u": state, "unew": np.zeros(n, _CONS), "dtdx": 0.1, "n": n, "kind": limiter}

    return make


def _lbm3d(rng: Rng) -> Args:
    cells = 5 * 4 * 6
    solid = rng.uniform(size=cells) < 0.1
    return {
        "f": uniform(rng, 0.02, 0.08, 19 * cells),
        "g": zeros(19 * cells),
        "solid": solid,
        "box": struct(_BOX, 5, 4, 6),
        "omega_plus": 1.2,
        "omega_minus": 0.9,
    }


def _advect(rng: Rng) -> Args:
    """Positions inside cells: the interpolation has kinks at the cells' faces."""
    n = 50
    at = structs(FLOAT3, rng.integers(1, 4, (n, 3)) + rng.uniform(0.4, 0.6, (n, 3)))
    fields = {name: normal(rng, 6, 6, 6) for name in "uvw"}
    grid = struct(_GRID, (6, 6, 6), (0, 0, 0), (1, 1, 1))
    return {"pos": at, **fields, "g": grid, "dt": 0.02, "steps": 3, "n": n}


def _longwave(rng: Rng) -> Args:
    arrays = {"temperature": rng.uniform(200, 300, (8, 20)), "absorber": rng.uniform(0.1, 0.5, (8, 20))}
    arrays |= {"surface_temperature": rng.uniform(270, 300, 20), "up_toa": np.zeros(20), "down_surface": np.zeros(20)}
    return {**arrays, "heating": np.zeros((8, 20)), "columns": 20, "layers": 8, "mass_absorption": 0.7}


def _mie(rng: Rng) -> Args:
    arrays = {"size": rng.uniform(1, 5, 30), "n_real": rng.uniform(1.3, 1.5, 30), "n_imag": rng.uniform(0.01, 0.1, 30)}
    return {**arrays, "q_ext": np.zeros(30), "q_sca": np.zeros(30), "count": 30}


def _weno(advection: bool) -> Maker:
    def make(rng: Rng) -> Args:
        flux = struct(np.dtype([("speed", F64)]), 0.7) if advection else None
        return {
            "u": rng.standard_normal(30),
            "dudt": np.zeros(30),
            "flux": flux,
            "alpha": 1.5,
            "viscosity": 0.01,
            "dx": 0.1,
            "n": 30,
        }

    return make


def _jacobi(rng: Rng) -> Args:
    arrays = {"u": rng.standard_normal(99), "f": rng.standard_normal(99), "next": np.zeros(99)}
    sums = {"squares": np.zeros(3), "values": np.zeros(3), "norms": np.zeros(2)}
    return {**arrays, **sums, "screening": 0.7, "nx": 11, "ny": 9}


ROWS = (
    Program(
        "residual_norm.cu",
        "jacobi_with_norms",
        _jacobi,
        ("next", "squares", "values", "norms"),
        3,
        32,
        flat=frozenset({"squares", "values"}),
    ),
    Program("fdtd.cu", "update_h", _update_h, ("hx", "hy"), (2, 2), (8, 8)),
    Program("fdtd.cu", "update_e", _update_e, ("ez",), (2, 2), (8, 8)),
    Program("fdtd.cu", "update_e", _update_e, ("ez",), (2, 2), (8, 8), activity={"dt": "active", "dtdx": "active"}),
    Program("shallow_water.cu", "advance", _advance, ("out",), (2, 2), (8, 8)),
    Program("euler_hllc.cu", "euler_step", _euler(0), ("unew",), 2, 32),
    Program("euler_hllc.cu", "euler_step", _euler(2), ("unew",), 2, 32, activity={"dtdx": "active"}),
    Program("lbm3d.cu", "collide_and_stream", _lbm3d, ("g",), (2, 1, 2), (4, 4, 4)),
    Program("trilinear.cu", "advect", _advect, ("pos",), 2, 32, tolerance=1e-2),
    Program("radiative_transfer.cu", "longwave", _longwave, ("up_toa", "down_surface", "heating"), 1, 32),
    Program("mie.cu", "efficiencies", _mie, ("q_ext", "q_sca"), 1, 32),
    Program(
        "burgers_weno.cu",
        "weno_rhs<double, Advection>",
        _weno(advection=True),
        ("dudt",),
        1,
        32,
        activity={"flux": "active", "alpha": "active"},
    ),
    Program("burgers_weno.cu", "weno_rhs<double, BurgersFlux>", _weno(advection=False), ("dudt",), 1, 32),
)
