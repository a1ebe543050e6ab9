"""Training by likelihood ratios: each process estimates with noise of its own on its part of the batch.

LR-M: one layer's outputs are perturbed, and back-propagation runs inside each segment. The mean of all estimates is one
with as many more copies; it is compared with what one process finds that goes through the same parts and noise.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from processes import EXAMPLES, Found, Kind, Place, alone, built, differs, over, run

sys.path.insert(0, str(EXAMPLES / "likelihood_ratio"))
sys.path.insert(0, str(EXAMPLES / "splatting"))

import tasks
from adam import Adam

from enzyme_driver import likelihood_ratio as lr
from enzyme_driver.tensor import Device

EXTENTS = [64, 32, 10]
BATCH, EPOCHS, RATE = 64, 4, 5e-3
SIGMA, COPIES, SEED = 0.2, 16, 1
LARGEST = 1e-4
ACCURATE = 0.6


class Work:
    def __init__(self, place: Place) -> None:
        if folder := built("lr"):
            lr.STORE.use_built(folder)
        self.place, self.device = place, Device(place.target)
        self.data = tasks.digits(np.random.default_rng(SEED))
        self.network = lr.MLP(EXTENTS, self.device, seed=SEED)
        self.thetas = {str(i): theta for i, theta in enumerate(self.network.thetas)}
        self.adam = Adam(self.device.arrays, self.thetas)

    def estimate(self, chosen: Any, step: int, part: Place) -> list[Any]:
        """That of one part of a batch, with the noise of that part."""
        own = chosen[part.part(len(chosen))]
        x, labels = (
            self.device.from_host(self.data.x[own], np.float32),
            self.device.from_host(self.data.labels[own], np.int32),
        )
        noise = lr.Noise(SIGMA, copies=COPIES, seed=SEED).at(step * part.size + part.rank)
        return list(self.network.gradient(x, labels, "LR-M", noise).thetas)

    def gradient(self, chosen: Any, step: int) -> list[Any]:
        """The mean of all processes'."""
        return [self.place.summed(each) / self.place.size for each in self.estimate(chosen, step, self.place)]

    def accuracy(self) -> float:
        test = self.device.from_host(self.data.test_x, np.float32)
        found = self.device.to_host(self.network.logits(test).argmax(axis=1))
        return float((found == self.data.test_labels).mean())


def in_turn(kind: Kind, size: int, chosen: Any) -> list[Any]:
    """The same estimates by one process."""
    work = Work(alone(kind))
    each = [work.estimate(chosen, 0, Place(rank, size, kind)) for rank in range(size)]
    return [work.device.to_host(sum(thetas) / size) for thetas in zip(*each, strict=True)]


def trained(place: Place) -> Found:
    work, rng, step = Work(place), np.random.default_rng(SEED), 0
    first = [work.device.to_host(each) for each in work.gradient(np.arange(BATCH), 0)]
    for _ in range(EPOCHS):
        order = rng.permutation(len(work.data.labels))
        for begin in range(0, len(order) - BATCH + 1, BATCH):
            found = work.gradient(order[begin : begin + BATCH], step)
            work.adam.move(
                work.thetas, {str(i): each for i, each in enumerate(found)}, dict.fromkeys(work.thetas, RATE)
            )
            step += 1
    return {**{f"theta{i}": each for i, each in enumerate(first)}, "accuracy": work.accuracy()}


def with_torch(kind: Kind, size: int) -> bool:
    wanted = in_turn(kind, size, np.arange(BATCH))
    found = run(trained, size, kind)
    failed = [
        differs(found[-1][f"theta{i}"], each, LARGEST, f"likelihood ratios, LR-M, layer {i}, {over(size, kind)}")
        for i, each in enumerate(wanted)
    ]
    accuracy = float(found[0]["accuracy"])
    print(f"likelihood ratios, LR-M: accuracy {accuracy:.3f} after {EPOCHS} epochs")
    return any(failed) or not accuracy > ACCURATE
