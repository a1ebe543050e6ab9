"""Fits a damped oscillation to noisy measurements with the gradient of the loss in least_squares.cpp.

The loss is ordinary C++ with an OpenMP reduction. BFGS needs its value and its gradient and finds the five parameters.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

import enzyme_driver as adgen

HERE = Path(__file__).resolve().parent
NAMES = ("amplitude", "decay", "frequency", "phase", "offset")
SAMPLES, DURATION, NOISE = 20_000, 10.0, 0.1
LARGEST_ERROR = 1e-10
"""Of the gradient, relative to the derivatives by hand."""

Floats = NDArray[np.float64]
Evaluate = Callable[[Floats], tuple[float, Floats]]


@dataclass(frozen=True)
class Fit:
    """The parameters found, with the loss of each iteration."""

    params: Floats
    losses: list[float]


def line_search(evaluate: Evaluate, point: Floats, value: float, slope: float, direction: Floats) -> float:
    """The first of the steps 1, 1/2, 1/4, … that lowers the value enough (Armijo); 0 where none does."""
    for halvings in range(40):
        step = 0.5**halvings
        if evaluate(point + step * direction)[0] <= value + 1e-4 * step * slope:
            return step
    return 0.0


def bfgs(evaluate: Evaluate, start: Floats, iterations: int = 100) -> Fit:
    """Minimises by BFGS with an inverse Hessian kept whole; `evaluate` gives value and gradient."""
    point, identity = start, np.eye(len(start))
    value, gradient = evaluate(point)
    inverse, losses = identity / np.linalg.norm(gradient), [value]
    for _ in range(iterations):
        direction = -inverse @ gradient
        step = line_search(evaluate, point, value, float(gradient @ direction), direction)
        if step == 0.0:
            break
        moved, before = step * direction, gradient
        point = point + moved
        value, gradient = evaluate(point)
        losses.append(value)
        change = gradient - before
        if moved @ change > 0.0:
            left = identity - np.outer(moved, change) / (moved @ change)
            inverse = left @ inverse @ left.T + np.outer(moved, moved) / (moved @ change)
        if losses[-2] - value <= 1e-14 * value:
            break
    return Fit(point, losses)


def model(x: Floats, params: Floats) -> Floats:
    amplitude, decay, frequency, phase, offset = params
    return np.asarray(amplitude * np.exp(-decay * x) * np.cos(frequency * x + phase) + offset)


def model_jacobian(x: Floats, params: Floats) -> Floats:
    """Derivatives of the model by hand, one row a parameter: what the gradient is checked against."""
    amplitude, decay, frequency, phase, _ = params
    damping, angle = np.exp(-decay * x), frequency * x + phase
    cosine, sine = damping * np.cos(angle), damping * np.sin(angle)
    return np.stack([cosine, -amplitude * x * cosine, -amplitude * x * sine, -amplitude * sine, np.ones_like(x)])


def save_plot(path: Path, measured: tuple[Floats, Floats], fit: Fit, guess: Floats) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    x, y = measured
    figure, (curves, losses) = plt.subplots(1, 2, figsize=(10, 3.2), width_ratios=(2, 1), layout="constrained")
    curves.plot(x[::20], y[::20], ".", color="#b8c4d0", ms=2, label="measured")
    curves.plot(x, model(x, guess), "--", color="#c8553d", lw=1, label="first guess")
    curves.plot(x, model(x, fit.params), color="#1f5fa8", lw=1.5, label="fit")
    curves.legend(frameon=False)
    losses.semilogy(fit.losses, ".-", color="#1f5fa8")
    losses.set(title="mean squared residual", xlabel="iteration")
    losses.grid(alpha=0.25)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--artifact", type=Path, help="load this one instead of compiling")
    parser.add_argument("--plot", type=Path, default=HERE / "fit.png")
    options = parser.parse_args()
    rng = np.random.default_rng()
    truth = np.array([2.0, 0.3, 5.0, 0.4, 0.5]) * rng.uniform(0.9, 1.1, 5)
    x = np.linspace(0.0, DURATION, SAMPLES)
    y = model(x, truth) + NOISE * rng.standard_normal(SAMPLES)
    if options.artifact:
        loss = adgen.load(options.artifact).loss
    else:
        loss = adgen.compile(HERE / "least_squares.cpp", function="loss", target="openmp")

    def evaluate(params: Floats) -> tuple[float, Floats]:
        value = cast("float", loss(x, y, params, SAMPLES)) / SAMPLES
        return value, loss.vjp(x, y, params, SAMPLES, wrt=("params",))["params"] / SAMPLES

    guess = truth + np.array([-0.5, 0.15, 0.1, 0.3, -0.3])
    by_hand = 2.0 / SAMPLES * model_jacobian(x, guess) @ (model(x, guess) - y)
    wrong = float(np.linalg.norm(evaluate(guess)[1] - by_hand) / np.linalg.norm(by_hand))
    fit = bfgs(evaluate, guess)
    jacobian = model_jacobian(x, truth)
    deviation = NOISE * np.sqrt(np.diag(np.linalg.inv(jacobian @ jacobian.T)))
    save_plot(options.plot, (x, y), fit, guess)

    print(f"gradient against the derivatives by hand: {wrong:.1e} apart (relative)")
    print(f"mean squared residual: {fit.losses[0]:.4f} -> {fit.losses[-1]:.6f} in {len(fit.losses) - 1} iterations")
    for name, true, found, sigma in zip(NAMES, truth, fit.params, deviation, strict=True):
        print(f"  {name:<10} true {true:8.5f}  found {found:8.5f} ± {sigma:.5f}")
    print(f"plot: {options.plot}")
    if not (wrong < LARGEST_ERROR and np.all(np.abs(fit.params - truth) < 6.0 * deviation)):
        print("the fit failed", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
