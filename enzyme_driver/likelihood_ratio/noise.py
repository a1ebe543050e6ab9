"""What is drawn for an estimate: how large, how often, and by which counter."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from enzyme_driver.errors import ArgumentError

LARGEST_SEED = 2**32 - 1
STEP = 0x9E3779B1
"""Between the seeds of two steps of training."""


@dataclass(frozen=True)
class Noise:
    """Normal noise with the standard deviation `sigma`, on `copies` copies of every sample.

    `antithetic`: every second copy has the negated noise of the one before (then `copies` is even). `lattice` instead:
    the copies of every number are the points of a lattice, shifted at random (quasi-Monte Carlo). `signs`: the estimate
    takes the signs of the noise (arXiv 2403.12320), with another error of O(sigma^2). `seed` decides all of it: the
    same seed gives the same estimate, whatever the chunk. `chunk` is how many copies are computed at a time, 0 for all
    of them; memory is that of one chunk. Raises ArgumentError for values that mean nothing. `counter`, an array of one
    uint32 on the device, takes the seed's place where it changes while Python does not look: in a graph.
    """

    sigma: float
    copies: int = 16
    seed: int = 0
    antithetic: bool = True
    chunk: int = 0
    lattice: bool = False
    signs: bool = False
    counter: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.sigma) and self.sigma > 0):
            raise ArgumentError(f"sigma is {self.sigma}", hint="give a standard deviation greater than zero")
        if self.copies < 1:
            raise ArgumentError(f"{self.copies} copies give no estimate", hint="give one copy at least")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise ArgumentError(f"the seed {self.seed} has no 32 bits", hint=f"give one from 0 to {LARGEST_SEED}")
        if self.antithetic and self.lattice:
            raise ArgumentError("copies are pairs, or a lattice", hint="give antithetic=False with lattice=True")
        for what, number in (("copies", self.copies), ("copies a chunk", self.chunk)):
            if self.antithetic and number % 2:
                raise ArgumentError(f"{number} {what} are no pairs", hint="give an even number, or antithetic=False")

    def at(self, step: int) -> Noise:
        """The noise of a step of training: its own seed, by a multiplicative hash, so that no step repeats another."""
        return replace(self, seed=(self.seed + STEP * (step + 1)) & LARGEST_SEED)

    @property
    def kind(self) -> int:
        """As kernels take it."""
        return self.antithetic + 2 * self.lattice + 4 * self.signs

    def chunks(self) -> list[range]:
        """The copies that are computed at a time."""
        size = self.chunk or self.copies
        return [range(first, min(first + size, self.copies)) for first in range(0, self.copies, size)]


@dataclass(frozen=True)
class Draw:
    """The noise of one layer for some copies of a batch, in each of `steps` steps; `stream` tells layers apart."""

    noise: Noise
    stream: int
    samples: int
    copies: range
    steps: int = 1

    @property
    def step_rows(self) -> int:
        return len(self.copies) * self.samples

    @property
    def rows(self) -> int:
        return self.steps * self.step_rows

    @property
    def first_row(self) -> int:
        return self.copies.start * self.samples

    @property
    def all_step_rows(self) -> int:
        return self.noise.copies * self.samples

    @property
    def words(self) -> tuple[int, ...]:
        """What kernels take behind the seed: stream, first_row, samples, kind, step_rows, all_step_rows."""
        return (self.stream, self.first_row, self.samples, self.noise.kind, self.step_rows, self.all_step_rows)
