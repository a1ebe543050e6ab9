"""Options, rates and risk, as banks and students write them."""

from __future__ import annotations

import numpy as np
from programs.draw import F32, F64, Rng, struct
from programs.program import Args, Maker, Program

from cuda_kernels.draw import uniform, zeros

_OPTION = np.dtype(
    [(name, F32) for name in "SKTr"] + [("sigma", F32), ("q", F32), ("put", np.int32), ("exercise_every", np.int32)]
)
_RATE = np.dtype([(name, F64) for name in ("r0", "speed", "level", "volatility")])
_CONTRACT = np.dtype([("notional", F64), ("strike", F64), ("tenor", F64), ("fixings", np.int32)], align=True)
_LOCAL_VOL = np.dtype([(name, F64) for name in ("level", "skew", "smile", "decay")])


def _trees(model: int) -> Maker:
    def make(rng: Rng) -> Args:
        options = np.zeros(6, _OPTION)
        options["S"] = rng.uniform(95, 105, 6)
        options["K"] = 100
        options["T"] = rng.uniform(0.5, 1, 6)
        options["r"] = rng.uniform(0.03, 0.05, 6)
        options["sigma"] = rng.uniform(0.2, 0.4, 6)
        options["q"] = 0.01
        options["put"] = [0, 1, 0, 1, 0, 1]
        options["exercise_every"] = [0, 0, 1, 1, 2, 3]
        arrays = {"options": options, "prices": zeros(6), "deltas": zeros(6)}
        return {**arrays, "n_options": 6, "steps": 21, "model": model}

    return make


def _local_vol(rng: Rng) -> Args:
    n = 12
    return {
        "spot": rng.uniform(95, 105, n),
        "strike": rng.uniform(90, 110, n),
        "expiry": rng.uniform(0.5, 1.5, n),
        "style": (np.arange(n) % 3).astype(np.int32),
        "call": rng.integers(0, 2, n).astype(np.bool_),
        "vol": struct(_LOCAL_VOL, 0.25, -0.1, 0.1, 0.5),
        "rate": 0.02,
        "dividend": 0.01,
        "barrier": 125.0,
        "price": np.zeros(n),
        "n": n,
        "time_steps": 8,
    }


def _rates(payoff_strike: float) -> Maker:
    def make(rng: Rng) -> Args:
        contracts = np.zeros(2, _CONTRACT)
        contracts["notional"] = rng.uniform(90, 110, 2)
        contracts["strike"] = payoff_strike
        contracts["tenor"] = rng.uniform(1, 2, 2)
        contracts["fixings"] = [4, 6]
        model = np.zeros(1, _RATE)
        for name, value in (("r0", 0.03), ("speed", 0.3), ("level", 0.04), ("volatility", 0.01)):
            model[name] = value * rng.uniform(0.9, 1.1)
        seed = int(rng.integers(1, 1000))
        sums = {"value": np.zeros(2), "bond": np.zeros(2)}
        return {"model": model, "contracts": contracts, **sums, "n_contracts": 2, "pairs": 70, "seed": seed}

    return make


def _jumps(rng: Rng) -> Args:
    return {
        "spot": uniform(rng, 90, 110, 40),
        "vol": uniform(rng, 0.1, 0.3, 40),
        "intensity": uniform(rng, 0.5, 1, 40),
        "jump_mean": -0.1,
        "jump_sd": 0.2,
        "terminal": zeros(40),
        "n": 40,
        "steps": 10,
        "dt": 0.1,
        "key": int(rng.integers(0, 2**31)),
    }


ROWS = (
    Program("american_tree.cu", "price_trees", _trees(0), ("prices", "deltas"), 6, 16, tolerance=3e-2),
    Program("local_vol_pde.cu", "solve_pde", _local_vol, ("price",), 1, 16),
    Program(
        "local_vol_pde.cu", "solve_pde", _local_vol, ("price",), 1, 16, activity={"vol": "active", "rate": "active"}
    ),
    Program("monte_carlo_rates.cu", "simulate<Caplets, 64>", _rates(0.02), ("value", "bond"), (1, 2), 64),
    Program("monte_carlo_rates.cu", "simulate<RangeAccrual, 128>", _rates(0.03), ("value", "bond"), (2, 2), 128),
    Program(
        "monte_carlo_rates.cu",
        "jump_diffusion",
        _jumps,
        ("terminal",),
        2,
        32,
        activity={"jump_mean": "active", "jump_sd": "active"},
        flat=frozenset({"intensity"}),
    ),
)
