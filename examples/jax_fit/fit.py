"""Finds the rates of a stiff reaction in each pixel of a film of it, with JAX.

    python fit.py [--size 16] [--steps 150] [--noise 0.01] [--plot out.png]

kinetics.cu solves the reaction's equations for a row of pixels, and is an operator of JAX here; `vmap` makes it one of
pictures, and `grad` the loss's derivative by the rates. optax descends where it is installed, else a few lines do. Ends
with status 1 where the gradient differs from finite differences, or where the rates are not found.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import enzyme_driver as adgen

HERE = Path(__file__).resolve().parent
TIMES = np.geomspace(0.3, 300.0, 8)
GUESS = np.log([0.03, 2e4])
RATE = 5e-2
BLOCK = 64
LARGEST_DIFFERENCE = 1e-6
LARGEST_ERROR = 0.1
"""Of a rate, relative to it, in nine pixels of ten."""


@adgen.operator(os.environ.get("KINETICS", HERE / "kinetics.cu"), kernel="kinetics", needs_grad=["log_rates"])
def kinetics(launch: Any, log_rates: Any, times: Any) -> Any:  # noqa: ANN401
    pixels, looks = log_rates.shape[0], times.shape[0]
    seen = launch.empty((pixels, looks, 2), log_rates.dtype)
    return launch(
        grid=adgen.cdiv(pixels, BLOCK), block=BLOCK, args=(log_rates, times, seen, pixels, looks), outputs=seen
    )


def film(log_rates: Any) -> Any:  # noqa: ANN401
    """What is seen of a picture of rates [rows, columns, 2]: [rows, columns, looks, 2]."""
    return jax.vmap(kinetics.jax, in_axes=(0, None))(log_rates, jnp.asarray(TIMES))


def hidden(size: int) -> Any:  # noqa: ANN401
    """The rates that are to be found: a warm spot, and a stripe of another catalyst."""
    x, y = np.meshgrid(np.linspace(-1, 1, size), np.linspace(-1, 1, size))
    slow = 0.04 * (1 + 0.8 * np.exp(-4 * ((x - 0.2) ** 2 + (y + 0.1) ** 2)))
    back = 1e4 * (1 + 0.7 * np.tanh(4 * (x + y)))
    return np.log(np.stack([slow, back], -1))


def optimiser(rates: Any) -> tuple[Any, Callable[[Any, Any, Any], tuple[Any, Any]]]:  # noqa: ANN401
    """Adam: its state, and what takes rates, state and a gradient to the next rates and state."""
    if importlib.util.find_spec("optax"):
        import optax

        adam = optax.adam(RATE)

        def with_optax(rates: Any, state: Any, gradient: Any) -> tuple[Any, Any]:  # noqa: ANN401
            moves, state = adam.update(gradient, state)
            return optax.apply_updates(rates, moves), state

        return adam.init(rates), with_optax

    def by_hand(rates: Any, state: Any, gradient: Any) -> tuple[Any, Any]:  # noqa: ANN401
        step, first, second = state
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        scale = RATE * jnp.sqrt(1 - 0.999 ** (step + 1)) / (1 - 0.9 ** (step + 1))
        return rates - scale * first / (jnp.sqrt(second) + 1e-12), (step + 1, first, second)

    return (jnp.zeros(()), jnp.zeros_like(rates), jnp.zeros_like(rates)), by_hand


def fit(wanted: Any, steps: int) -> tuple[Any, list[float]]:  # noqa: ANN401
    """The logarithms of the rates, and the loss of each step."""

    def loss(log_rates: Any) -> Any:  # noqa: ANN401
        return ((film(log_rates) - wanted) ** 2).sum((-1, -2)).mean()

    rates = jnp.broadcast_to(jnp.asarray(GUESS), (*wanted.shape[:2], 2))
    state, moved = optimiser(rates)

    @jax.jit
    def step(rates: Any, state: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401
        value, gradient = jax.value_and_grad(loss)(rates)
        return *moved(rates, state, gradient * wanted.shape[0] * wanted.shape[1]), value

    losses = []
    for _ in range(steps):
        rates, state, value = step(rates, state)
        losses.append(float(value))
    return rates, losses


def difference() -> float:
    """Of the derivative along a line from central differences, relative to it."""
    rng = np.random.default_rng(1)
    rates = jnp.asarray(GUESS + 0.1 * rng.standard_normal((2, 3, 2)))
    line = jnp.asarray(rng.standard_normal(rates.shape))
    weights = jnp.asarray(rng.standard_normal((2, 3, len(TIMES), 2)))

    def value(rates: Any) -> Any:  # noqa: ANN401
        return (film(rates) * weights).sum()

    found = float((jax.grad(value)(rates) * line).sum())
    wanted = float((value(rates + 1e-5 * line) - value(rates - 1e-5 * line)) / 2e-5)
    return abs(found - wanted) / abs(wanted)


def main() -> int:
    options = _options()
    jax.config.update("jax_enable_x64", True)
    apart = difference()
    print(f"the derivative along a line differs from finite differences by {apart:.1e}")
    truth = hidden(options.size)
    clean = film(jnp.asarray(truth))
    wanted = clean + options.noise * np.random.default_rng(0).standard_normal(clean.shape)
    start = time.perf_counter()
    rates, losses = fit(wanted, options.steps)
    errors = np.abs(np.expm1(np.asarray(rates) - truth)).max(-1)
    worst = float(np.quantile(errors, 0.9))
    print(
        f"{options.size} x {options.size} pixels, {options.steps} steps in {time.perf_counter() - start:.1f} s: the "
        f"loss falls from {losses[0]:.2e} to {losses[-1]:.2e}; nine rates of ten are right to {100 * worst:.1f} %"
    )
    if options.plot:
        _plot(options.plot, truth, np.asarray(rates), losses)
    return 0 if apart < LARGEST_DIFFERENCE and worst < LARGEST_ERROR else 1


def _plot(path: Path, truth: Any, rates: Any, losses: list[float]) -> None:  # noqa: ANN401
    """The two rates that are hidden, those that were found, and the loss."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 5, figsize=(15, 3), layout="constrained")
    for column, (name, which) in enumerate((("slow rate", 0), ("rate back", 1))):
        low, high = np.exp(truth[..., which].min()), np.exp(truth[..., which].max())
        for place, (shown, what) in enumerate(((truth, "hidden"), (rates, "found"))):
            axis = axes[2 * column + place]
            image = axis.imshow(np.exp(shown[..., which]), vmin=low, vmax=high)
            axis.set_title(f"{name}, {what}")
            axis.set_axis_off()
        figure.colorbar(image, ax=axes[2 * column + 1])
    axes[4].semilogy(losses)
    axes[4].set_title("loss by step")
    figure.savefig(path, dpi=100)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--noise", type=float, default=0.01)
    parser.add_argument("--plot", type=Path, help="write the rates that are hidden and found as a picture")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
