"""Pricing and time series."""

from __future__ import annotations

import numpy as np
from programs.draw import F64, Rng, struct
from programs.program import Args, Program

_BOND = np.dtype([("coupon", F64), ("maturity", F64), ("frequency", np.int32)], align=True)
_NOISE = np.dtype([(name, F64) for name in ("level", "slope", "measurement")])
_HESTON = np.dtype([(name, F64) for name in ("kappa", "theta", "xi", "rho", "rate")])


def _heston(rng: Rng) -> Args:
    return {
        "spot": rng.uniform(90, 110, 1),
        "v0": rng.uniform(0.03, 0.06, 1),
        "strike": rng.uniform(80, 85, 1),
        "payoff": np.zeros(60),
        "m": struct(_HESTON, 1.5, 0.05, 0.2, -0.6, 0.02),
        "maturity": 0.5,
        "steps": 12,
        "paths": 60,
        "seed": int(rng.integers(1, 1000)),
    }


def _bonds(rng: Rng) -> Args:
    bonds = np.zeros(40, _BOND)
    bonds["coupon"] = rng.uniform(0.02, 0.08, 40)
    bonds["maturity"] = rng.integers(2, 8, 40) + 0.1
    bonds["frequency"] = rng.integers(1, 3, 40)
    return {
        "bonds": bonds,
        "market": rng.uniform(0.9, 1.1, 40),
        "yields": np.zeros(40),
        "iterations": np.zeros(40, np.int32),
        "n": 40,
    }


def _kalman(rng: Rng) -> Args:
    noise = np.zeros(10, _NOISE)
    for name in ("level", "slope", "measurement"):
        noise[name] = rng.uniform(0.5, 1.5, 10)
    series = rng.standard_normal((10, 15)).cumsum(axis=1)
    return {
        "series": series,
        "noise": noise,
        "log_likelihood": np.zeros(10),
        "final_level": np.zeros(10),
        "n_series": 10,
        "length": 15,
    }


def _regression(rng: Rng) -> Args:
    spots = rng.choice([-1, 1], 60) * rng.uniform(5, 20, 60) + 100
    return {
        "spots": spots,
        "cash": rng.uniform(0, 20, 60),
        "matrix": np.zeros(9),
        "rhs": np.zeros(3),
        "strike": 100.0,
        "discount": 0.99,
        "paths": 60,
    }


def _exercise(rng: Rng) -> Args:
    """Intrinsic values of at least 5 against continuation values of about 1."""
    spots = rng.choice([-1, 1], 60) * rng.uniform(5, 20, 60) + 100
    return {
        "spots": spots,
        "coefficients": np.array([0.3, 0.5, 0.2]),
        "cash": rng.uniform(0, 20, 60),
        "strike": 100.0,
        "discount": 0.99,
        "paths": 60,
    }


ROWS = (
    Program("heston.cu", "price_paths", _heston, ("payoff",), 2, 32),
    Program(
        "heston.cu", "heston::price_paths", _heston, ("payoff",), 2, 32, activity={"m": "active", "maturity": "active"}
    ),
    Program("bond_curve.cu", "solve_yields", _bonds, ("yields", "iterations"), 2, 32),
    Program("kalman.cu", "filter", _kalman, ("log_likelihood", "final_level"), 1, 16),
    Program("american_option.cu", "regression<PUT>", _regression, ("matrix", "rhs"), 2, 16),
    Program(
        "american_option.cu",
        "regression<CALL>",
        _regression,
        ("matrix", "rhs"),
        2,
        16,
        activity={"strike": "active", "discount": "active"},
    ),
    Program("american_option.cu", "exercise<PUT>", _exercise, ("cash",), 2, 32, flat=frozenset({"coefficients"})),
)
