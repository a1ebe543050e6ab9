"""Black-Scholes prices and Greeks in closed form, float64: what the gradients are measured against."""

from __future__ import annotations

from math import erf, pi, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Chain = dict[str, NDArray[np.generic]]

_erf = np.vectorize(erf, otypes=[np.float64])

GREEKS = {"spot": "delta", "strike": "dual delta", "rate": "rho", "vol": "vega", "maturity": "theta"}
"""The parameter of the kernel that each Greek belongs to; theta is minus the derivative in the maturity."""


def normal_cdf(x: Floats) -> Floats:
    return 0.5 + 0.5 * np.asarray(_erf(x / sqrt(2.0)), np.float64)


def normal_density(x: Floats) -> Floats:
    density: Floats = np.exp(-0.5 * x * x) / sqrt(2.0 * pi)
    return density


def prices_and_greeks(chain: Chain) -> dict[str, Floats]:
    """Price and every Greek of each contract, by name.

    `chain` holds one array a column: spot, strike, rate (1/year), vol (1/sqrt(year)), maturity (years), is_call (0, 1).
    """
    s, k, r, v, t = (chain[name].astype(np.float64) for name in GREEKS)
    sign = np.where(chain["is_call"] != 0, 1.0, -1.0)
    deviation = v * np.sqrt(t)
    d1 = (np.log(s / k) + (r + 0.5 * v * v) * t) / deviation
    d2 = d1 - deviation
    discounted = k * np.exp(-r * t)
    in_the_money = normal_cdf(sign * d2)
    delta = sign * normal_cdf(sign * d1)
    vega = s * normal_density(d1) * np.sqrt(t)
    return {
        "price": s * delta - sign * discounted * in_the_money,
        "delta": delta,
        "dual delta": -sign * np.exp(-r * t) * in_the_money,
        "rho": sign * t * discounted * in_the_money,
        "vega": vega,
        "theta": -0.5 * vega * v / t - sign * r * discounted * in_the_money,
    }


def scales(chain: Chain) -> dict[str, Floats]:
    """The size that price and Greeks of each contract can reach, to measure errors by."""
    s, k, r, v, t = (chain[name].astype(np.float64) for name in GREEKS)
    peak = s / sqrt(2.0 * pi) * np.sqrt(t)
    return {
        "price": s,
        "delta": np.ones_like(s),
        "dual delta": np.ones_like(s),
        "rho": t * k,
        "vega": peak,
        "theta": 0.5 * peak * v / t + r * k,
    }
