"""Draws the Greeks of one expiry of the chain: closed form as lines, gradient as dots, and the error below."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from closed_form import GREEKS, Chain, Floats, scales
from matplotlib.axes import Axes
from numpy.typing import NDArray

CALL, PUT = "#1f5fa8", "#c8553d"


def one_expiry(chain: Chain, days: int) -> NDArray[np.bool_]:
    """The first underlying's contracts that expire after `days` days."""
    spot, maturity = chain["spot"], chain["maturity"].astype(np.float64)
    chosen: NDArray[np.bool_] = (spot == spot[0]) & (np.round(365.0 * maturity) == days)
    return chosen


def draw_greek(axis: Axes, moneyness: Floats, found: Floats, exact: Floats, is_call: NDArray[np.bool_]) -> None:
    for chosen, colour, label in ((is_call, CALL, "call"), (~is_call, PUT, "put")):
        axis.plot(moneyness[chosen], exact[chosen], color=colour, lw=1.2, label=f"{label}, closed form")
        axis.plot(moneyness[chosen], found[chosen], ".", color=colour, ms=6, label=f"{label}, gradient")
    axis.grid(alpha=0.25)


def draw_error(axis: Axes, moneyness: Floats, error: Floats, is_call: NDArray[np.bool_]) -> None:
    for chosen, colour in ((is_call, CALL), (~is_call, PUT)):
        axis.semilogy(moneyness[chosen], np.maximum(error[chosen], 1e-10), ".", color=colour, ms=4)
    axis.set_ylim(1e-10, 1e-4)
    axis.set_xlabel("strike / spot")
    axis.grid(alpha=0.25)


def save(path: Path, chain: Chain, found: dict[str, Floats], exact: dict[str, Floats], days: int = 182) -> None:
    """Saves the plot of the Greeks in `found` against those in `exact` to `path`."""
    shown = one_expiry(chain, days)
    scale = scales(chain)
    moneyness = (chain["strike"].astype(np.float64) / chain["spot"].astype(np.float64))[shown]
    is_call = (chain["is_call"] != 0)[shown]
    figure, axes = plt.subplots(
        2, len(GREEKS), figsize=(14, 4.6), sharex=True, height_ratios=(3, 1.2), layout="constrained"
    )
    for (above, below), greek in zip(axes.T, GREEKS.values(), strict=True):
        draw_greek(above, moneyness, found[greek][shown], exact[greek][shown], is_call)
        draw_error(below, moneyness, (np.abs(found[greek] - exact[greek]) / scale[greek])[shown], is_call)
        above.set_title(greek)
    axes[0, 0].legend(fontsize=7)
    axes[1, 0].set_ylabel("relative error")
    figure.suptitle(f"One gradient call gives every Greek (options that expire in {days} days, float32)")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
