"""Writes options.csv: a made-up chain of European options on twelve underlyings.

Spots and one volatility smile an underlying are drawn from a seeded generator; the strikes of an expiry are round
numbers within two and a half standard deviations of the forward, as an exchange lists them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp
from pathlib import Path

import numpy as np

HEADER = ("symbol", "is_call", "spot", "strike", "rate", "vol", "maturity")
EXPIRIES_IN_DAYS = (7, 14, 21, 28, 42, 56, 84, 112, 147, 182, 273, 365, 456, 547, 730, 1095)
STRIKES_AN_EXPIRY = 32
STEPS = np.array([0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0])


@dataclass(frozen=True)
class Underlying:
    """An asset with its smile: total implied volatility at the money, its slope and its curvature."""

    symbol: str
    spot: float
    level: float
    slope: float
    curvature: float

    def vol(self, moneyness: float, maturity: float) -> float:
        """Implied volatility at `moneyness` = log(strike / forward) / (level sqrt(maturity))."""
        flattening: float = 1.0 / (1.0 + maturity) ** 0.25
        smile = self.slope * moneyness + self.curvature * moneyness**2
        return max(0.06, self.level * (1.0 + smile * flattening))


def rate(maturity: float) -> float:
    """A rising zero curve, from 2.0 % at the short end to 3.5 %."""
    return 0.035 - 0.015 * exp(-maturity / 1.5)


def draw_underlyings(rng: np.random.Generator, count: int) -> list[Underlying]:
    return [
        Underlying(
            symbol=f"U{i:02d}",
            spot=round(float(np.exp(rng.uniform(np.log(15.0), np.log(5000.0)))), 2),
            level=float(rng.uniform(0.12, 0.55)),
            slope=float(rng.uniform(-0.12, -0.02)),
            curvature=float(rng.uniform(0.005, 0.03)),
        )
        for i in range(count)
    ]


def listed_strikes(forward: float, deviation: float) -> list[float]:
    """Round strikes around the forward, about `STRIKES_AN_EXPIRY` of them, at most two and a half deviations away."""
    low, high = forward * np.exp(-2.5 * deviation), forward * np.exp(2.5 * deviation)
    spacing = (high - low) / STRIKES_AN_EXPIRY
    step = float(STEPS[np.argmin(np.abs(np.log(STEPS / spacing)))])
    first = max(step, np.ceil(low / step) * step)
    return [float(strike) for strike in np.arange(first, high, step)]


def rows(underlying: Underlying) -> Iterator[tuple[str, int, str, str, str, str, str]]:
    for days in EXPIRIES_IN_DAYS:
        maturity = days / 365.0
        forward = underlying.spot * float(np.exp(rate(maturity) * maturity))
        deviation = underlying.level * maturity**0.5
        for strike in listed_strikes(forward, deviation):
            vol = underlying.vol(float(np.log(strike / forward)) / deviation, maturity)
            for is_call in (1, 0):
                yield (
                    underlying.symbol,
                    is_call,
                    f"{underlying.spot:.2f}",
                    f"{strike:g}",
                    f"{rate(maturity):.5f}",
                    f"{vol:.4f}",
                    f"{maturity:.5f}",
                )


def main() -> None:
    path = Path(__file__).with_name("options.csv")
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for underlying in draw_underlyings(np.random.default_rng(20), 12):
            writer.writerows(rows(underlying))


if __name__ == "__main__":
    main()
