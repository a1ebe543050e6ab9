"""Moves a cluster of stars by forces that nobody derived: they are minus the gradient of the energy in nbody.cu.

The forces are compared with Newton's law written by hand, then a leapfrog integrator runs on them and has to keep the
energy.
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
BODIES, STEPS, TIME_STEP, SOFTENING = 512, 100, 2e-3, 0.05
LARGEST_ERROR, LARGEST_DRIFT = 1e-12, 1e-4
BLOCK = 128
GRID = -(-BODIES // BLOCK)

Floats = NDArray[np.float64]
Array = Any  # of the library that the target takes, NumPy or CuPy


@dataclass(frozen=True)
class Cluster:
    """The compiled energy with the masses, for arrays of the library `xp` (NumPy or CuPy)."""

    kernel: Any
    mass: Array
    xp: ModuleType

    def energy(self, position: Array) -> float:
        """Potential energy at `position`, float64[3 * BODIES]."""
        share = self.xp.empty(BODIES)
        self.kernel[GRID, BLOCK](position, self.mass, share, BODIES, SOFTENING)
        return float(share.sum())

    def forces(self, position: Array) -> Array:
        """Minus the gradient of the energy, float64[3 * BODIES]."""
        share, ones = self.xp.empty(BODIES), self.xp.ones(BODIES)
        gradient = self.kernel.vjp[GRID, BLOCK](
            position, self.mass, share, BODIES, SOFTENING, cotangents={"share": ones}, wrt=("position",)
        )
        return -gradient["position"]


def array_library(target: str) -> ModuleType:
    if target == "openmp":
        return np
    import cupy

    return cupy  # type: ignore[no-any-return, unused-ignore]


def forces_by_hand(position: Floats, mass: Floats) -> Floats:
    """Newton's law with softening, for every pair."""
    apart = position.reshape(1, -1, 3) - position.reshape(-1, 1, 3)
    squared = (apart**2).sum(axis=2) + SOFTENING**2
    weight = mass[:, None] * mass[None, :] * squared**-1.5
    forces: Floats = (weight[:, :, None] * apart).sum(axis=1).ravel()
    return forces


def start(rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Positions in a ball, velocities of a slow rotation, masses that add up to 1."""
    direction = rng.standard_normal((BODIES, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    position = direction * rng.uniform(0.0, 1.0, (BODIES, 1)) ** (1.0 / 3.0)
    velocity = 0.5 * np.cross([0.0, 0.0, 1.0], position)
    mass = rng.uniform(0.5, 1.5, BODIES)
    return position.ravel(), velocity.ravel(), mass / mass.sum()


def leapfrog(cluster: Cluster, position: Array, velocity: Array) -> list[float]:
    """Total energy before and after every step of kick, drift, kick."""
    mass = cluster.xp.repeat(cluster.mass, 3)

    def total() -> float:
        return cluster.energy(position) + 0.5 * float((mass * velocity * velocity).sum())

    energies = [total()]
    acceleration = cluster.forces(position) / mass
    for _ in range(STEPS):
        velocity = velocity + 0.5 * TIME_STEP * acceleration
        position = position + TIME_STEP * velocity
        acceleration = cluster.forces(position) / mass
        velocity = velocity + 0.5 * TIME_STEP * acceleration
        energies.append(total())
    return energies


def save_plot(path: Path, position: Floats, forces: Floats, energies: list[float]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    (x, y, _), (right, up, _) = position.reshape(-1, 3).T, forces.reshape(-1, 3).T
    figure, (stars, drift) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    stars.quiver(x, y, right, up, np.hypot(right, up), cmap="viridis", width=0.004)
    stars.set(title="forces: minus the gradient of the energy", aspect="equal", xticks=[], yticks=[])
    drift.plot(np.array(energies) / energies[0] - 1, color="#1f5fa8")
    drift.set(title="relative drift of the total energy", xlabel="step")
    drift.grid(alpha=0.25)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--target", choices=("openmp", "cuda"), default="openmp")
    parser.add_argument("--arch", default="sm_90", help="of the GPU, for --target cuda")
    parser.add_argument("--artifact", type=Path, help="load this one instead of compiling")
    parser.add_argument("--plot", type=Path, default=HERE / "forces.png")
    options = parser.parse_args()

    xp = array_library(options.target)
    if options.artifact:
        kernel = adgen.load(options.artifact, target=options.target).energy
    else:
        kernel = adgen.compile(HERE / "nbody.cu", kernel="energy", target=options.target, arch=options.arch)
    position, velocity, mass = start(np.random.default_rng())
    cluster = Cluster(kernel, xp.asarray(mass), xp)

    found = cluster.forces(xp.asarray(position))
    found = found if xp is np else xp.asnumpy(found)
    exact = forces_by_hand(position, mass)
    error = float(np.max(np.abs(found - exact)) / np.max(np.abs(exact)))
    energies = leapfrog(cluster, xp.asarray(position), xp.asarray(velocity))
    drift = float(np.max(np.abs(np.array(energies) - energies[0])) / abs(energies[0]))

    save_plot(options.plot, position, found, energies)

    print(f"forces on {BODIES} bodies against Newton's law by hand: {error:.1e} apart (relative)")
    print(f"energy over {STEPS} steps: {energies[0]:.6f} -> {energies[-1]:.6f}, drift {drift:.1e}")
    print(f"plot: {options.plot}")
    if not (error < LARGEST_ERROR and drift < LARGEST_DRIFT):
        print("the forces are wrong", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
