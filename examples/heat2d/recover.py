"""Recovers the state a plate started from, out of a noisy picture of how it ended.

heat2d.cu makes one time step. Its gradient, called once a step from the last to the first, carries the cotangent of the
final state back to the initial one; accelerated gradient descent does the rest, and stops when the picture is matched
as well as its noise allows.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import enzyme_driver as adgen

HERE = Path(__file__).resolve().parent
SIZE, STEPS, ITERATIONS = 48, 40, 250
RATIO, BETA = 0.1, 0.5
NOISE = 0.002
RATE = 0.5
LARGEST_ERROR = 1e-6
"""Of the gradient, relative to a finite difference."""

Floats = NDArray[np.float64]
Array = Any  # of the library that the target takes, NumPy or CuPy
BLOCK = (16, 16)
GRID = (-(-SIZE // 16), -(-SIZE // 16))


@dataclass(frozen=True)
class Plate:
    """The compiled time step with the array library (NumPy or CuPy) whose arrays it takes."""

    step: Any
    xp: ModuleType

    def run(self, start: Array) -> list[Array]:
        """Every state from `start` (float64[SIZE, SIZE]) to the final one."""
        states = [start]
        for _ in range(STEPS):
            states.append(self.xp.zeros_like(start))
            self.step[GRID, BLOCK](states[-2], states[-1], SIZE, SIZE, RATIO, BETA)
        return states

    def pull_back(self, states: list[Array], cotangent: Array) -> Array:
        """The cotangent of the first state, from that of the last; `cotangent` is consumed."""
        for before, after in zip(states[-2::-1], states[:0:-1], strict=True):
            earlier = self.xp.zeros_like(cotangent)
            shadows = {"u": earlier, "next": cotangent}
            self.step.gradient[GRID, BLOCK](before, after, SIZE, SIZE, RATIO, BETA, shadows=shadows)
            cotangent = earlier
        return cotangent


def array_library(target: str) -> ModuleType:
    if target == "openmp":
        return np
    import cupy

    return cupy  # type: ignore[no-any-return, unused-ignore]


def hidden_start() -> Floats:
    """Two hot spots and a bar, on a cold plate with cold edges."""
    y, x = np.meshgrid(*2 * [np.linspace(0.0, 1.0, SIZE)], indexing="ij")
    small = np.exp(-((x - 0.3) ** 2 + (y - 0.35) ** 2) / 0.006)
    large = 0.7 * np.exp(-((x - 0.7) ** 2 + (y - 0.3) ** 2) / 0.01)
    bar = 0.8 * np.exp(-(((y - 0.72) / 0.06) ** 4)) * np.exp(-(((x - 0.5) / 0.28) ** 6))
    plate: Floats = small + large + bar
    plate[[0, -1], :] = 0.0
    plate[:, [0, -1]] = 0.0
    return plate


def recover(plate: Plate, picture: Array) -> tuple[Array, list[float]]:
    """Nesterov's descent on half the squared misfit. Returns the start found and the loss of each iteration."""
    guess = picture.copy()
    ahead, losses = guess, []
    for iteration in range(ITERATIONS):
        states = plate.run(ahead)
        misfit = states[-1] - picture
        losses.append(0.5 * float((misfit * misfit).sum()))
        if losses[-1] < 0.5 * NOISE**2 * SIZE**2:
            break
        descended = ahead - RATE * plate.pull_back(states, misfit)
        ahead = descended + iteration / (iteration + 3.0) * (descended - guess)
        guess = descended
    return guess, losses


def slope_error(plate: Plate, start: Array, picture: Array, rng: np.random.Generator) -> float:
    """Relative difference between the gradient and a finite difference in a random direction."""
    direction = plate.xp.asarray(rng.standard_normal((SIZE, SIZE)))

    def loss(state: Array) -> float:
        misfit = plate.run(state)[-1] - picture
        return 0.5 * float((misfit * misfit).sum())

    states = plate.run(start)
    slope = float((plate.pull_back(states, states[-1] - picture) * direction).sum())
    h = 1e-5
    difference = (loss(start + h * direction) - loss(start - h * direction)) / (2.0 * h)
    return abs(slope - difference) / abs(difference)


def save_plot(path: Path, panels: dict[str, Floats], losses: list[float]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(panels) + 1, figsize=(14, 3.2), layout="constrained")
    for axis, (title, values) in zip(axes, panels.items(), strict=False):
        axis.imshow(values, cmap="inferno", vmin=0.0, vmax=1.0)
        axis.set(title=title, xticks=[], yticks=[])
    axes[-1].semilogy(losses)
    axes[-1].set(title="loss", xlabel="iteration")
    axes[-1].grid(alpha=0.25)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def relative_error(found: Floats, exact: Floats) -> float:
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--target", choices=("openmp", "cuda"), default="openmp")
    parser.add_argument("--arch", default="sm_90", help="of the GPU, for --target cuda")
    parser.add_argument("--artifact", type=Path, help="load this one instead of compiling")
    parser.add_argument("--plot", type=Path, default=HERE / "recovered.png")
    options = parser.parse_args()

    xp = array_library(options.target)
    if options.artifact:
        step = adgen.load(options.artifact, target=options.target).step
    else:
        step = adgen.compile(HERE / "heat2d.cu", kernel="step", target=options.target, arch=options.arch)
    plate = Plate(step, xp)
    rng = np.random.default_rng()
    start = hidden_start()
    final = plate.run(xp.asarray(start))[-1]
    picture = final + xp.asarray(NOISE * rng.standard_normal(start.shape))

    wrong = slope_error(plate, xp.asarray(rng.uniform(0.0, 1.0, start.shape)), picture, rng)
    found, losses = recover(plate, picture)
    to_host = np.asarray if xp is np else xp.asnumpy
    blurred, sharp = relative_error(to_host(picture), start), relative_error(to_host(found), start)
    save_plot(options.plot, {"start": start, "picture": to_host(picture), "recovered": to_host(found)}, losses)

    print(f"gradient through {STEPS} steps against finite differences: {wrong:.1e} apart")
    print(f"loss after {len(losses)} iterations: {losses[0]:.3e} -> {losses[-1]:.3e}")
    print(f"distance from the true start: the picture {blurred:.3f}, the recovered state {sharp:.3f} (relative)")
    print(f"plot: {options.plot}")
    if not (wrong < LARGEST_ERROR and losses[-1] < 1e-2 * losses[0] and sharp < 0.5 * blurred):
        print("the recovery failed", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
