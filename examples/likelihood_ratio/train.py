"""Trains three networks with back-propagation and with likelihood ratios.

    python train.py [--device openmp] [--model mlp] [--method BP --method LR-F ...] [--epochs 20] [--copies 16]

Prints accuracy and the median time of an epoch of each. Of the MLP on scikit-learn's digits all methods take less than
a minute on the host.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tasks

from enzyme_driver import likelihood_ratio as lr
from enzyme_driver.tensor import Device

BATCH, SEED = 64, 1
SIGMAS = {"mlp": 0.2, "rnn": 0.1, "gcn": 0.5}
RATES = {"mlp": 2e-3, "rnn": 2e-3, "gcn": 1e-2}
Step = Callable[[lr.Method, lr.Noise], lr.Gradients]


@dataclass(frozen=True)
class Task:
    """A network, the steps of an epoch in an order of its own, and its accuracy on what was held out."""

    network: Any
    epoch: Callable[[np.random.Generator], Iterator[Step]]
    accuracy: Callable[[], float]


@dataclass(frozen=True)
class Trained:
    accuracy: float
    epoch_seconds: float


class Adam:
    """Kingma and Ba, 2015, with their constants."""

    def __init__(self, device: Device, rate: float, thetas: list[Any]) -> None:
        self._arrays = device.arrays
        self._rate = rate
        self._count = 0
        self._means = [(self._arrays.zeros_like(theta), self._arrays.zeros_like(theta)) for theta in thetas]

    def step(self, thetas: list[Any], gradients: list[Any]) -> None:
        self._count += 1
        scale = self._rate * (1 - 0.999**self._count) ** 0.5 / (1 - 0.9**self._count)
        for theta, gradient, (mean, square) in zip(thetas, gradients, self._means, strict=True):
            mean[:] = 0.9 * mean + 0.1 * gradient
            square[:] = 0.999 * square + 0.001 * gradient * gradient
            theta[:] = theta - scale * mean / (self._arrays.sqrt(square) + 1e-8)


def mlp(device: Device) -> Task:
    data = tasks.digits(np.random.default_rng(SEED))
    network = lr.MLP([64, 64, 32, 10], device, seed=SEED)
    return _of_samples(network, data, device, 0)


def rnn(device: Device) -> Task:
    data = tasks.sequences(np.random.default_rng(SEED))
    network = lr.RNN(tasks.SYMBOLS, 32, tasks.MARKED, device, seed=SEED)
    return _of_samples(network, data, device, 1)


def gcn(device: Device) -> Task:
    """An epoch is one step: all nodes are one batch."""
    data = tasks.citations(np.random.default_rng(SEED))
    graph = lr.normalised(data.edges, tasks.NODES, device, np.float32)
    network = lr.GCN(graph, device.from_host(data.words, np.float32), 16, tasks.KINDS, device, seed=SEED)
    labels, trained = device.from_host(data.kinds, np.int32), device.from_host(data.trained, np.bool_)

    def epoch(rng: np.random.Generator) -> Iterator[Step]:
        del rng
        yield lambda method, noise: network.gradient(labels, trained, method, noise)

    def accuracy() -> float:
        found = device.to_host(network.logits().argmax(axis=1))
        return float((found == data.kinds)[data.tested].mean())

    return Task(network, epoch, accuracy)


def _of_samples(network: Any, data: tasks.Samples, device: Device, axis: int) -> Task:  # noqa: ANN401
    """Batches of samples, which stand along that axis."""
    x, labels = device.from_host(data.x, np.float32), device.from_host(data.labels, np.int32)
    test_x = device.from_host(data.test_x, np.float32)

    def epoch(rng: np.random.Generator) -> Iterator[Step]:
        order = device.from_host(rng.permutation(len(data.labels)), np.int64)
        for first in range(0, len(data.labels) - BATCH + 1, BATCH):
            chosen = order[first : first + BATCH]
            some, own = x.take(chosen, axis=axis), labels[chosen]
            yield lambda method, noise, some=some, own=own: network.gradient(some, own, method, noise)

    def accuracy() -> float:
        found = device.to_host(network.logits(test_x).argmax(axis=1))
        return float((found == data.test_labels).mean())

    return Task(network, epoch, accuracy)


MODELS: dict[str, Callable[[Device], Task]] = {"mlp": mlp, "rnn": rnn, "gcn": gcn}


def train(model: str, method: lr.Method, device: Device, noise: lr.Noise, epochs: int) -> Trained:
    task = MODELS[model](device)
    rng, adam = np.random.default_rng(SEED), Adam(device, RATES[model], task.network.thetas)
    seconds, count = [], 0
    for _ in range(epochs):
        device.synchronize()
        started = time.perf_counter()
        for step in task.epoch(rng):
            adam.step(task.network.thetas, step(method, noise.at(count)).thetas)
            count += 1
        device.synchronize()
        seconds.append(time.perf_counter() - started)
    return Trained(task.accuracy(), float(np.median(seconds)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "openmp", "cuda"), default="openmp")
    parser.add_argument("--model", choices=list(MODELS), default="mlp")
    parser.add_argument("--method", action="append", choices=lr.METHODS)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--copies", type=int, default=16)
    options = parser.parse_args()
    device = Device(options.device)
    for method in options.method or lr.METHODS:
        noise = lr.Noise(SIGMAS[options.model], copies=options.copies, seed=SEED)
        found = train(options.model, method, device, noise, options.epochs)
        print(f"{method}: accuracy {found.accuracy:.3f}, {1e3 * found.epoch_seconds:.1f} ms an epoch", flush=True)


if __name__ == "__main__":
    main()
