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
from functools import partial
from typing import Any

import numpy as np
import tasks

from enzyme_driver import likelihood_ratio as lr
from enzyme_driver.tensor import Device

BATCH, SEED = 64, 1
POINTS = 20
"""Of a training's curve."""
SIGMAS = {"mlp": 0.3, "rnn": 0.1, "gcn": 0.1}
RATES = {"mlp": 1e-3, "rnn": 2e-3, "gcn": 1e-2}
LAYERS, CUTS = 8, (2, 5)
"""Hidden ones of the MLP, and behind which of them "LR-M" cuts it."""


@dataclass(frozen=True)
class Task:
    """A network, its gradient by a batch, the batches of an epoch, and its accuracy on what was held out twice."""

    network: Any
    gradient: Callable[..., lr.Gradients]
    """Of the arrays of a batch, the method and the noise."""
    epoch: Callable[[np.random.Generator], Iterator[tuple[Any, ...]]]
    accuracy: Callable[[], tuple[float, float]]
    """On the validation samples, by which settings are chosen, and on the test samples."""


@dataclass(frozen=True)
class Trained:
    validation: float
    accuracy: float
    epoch_seconds: float
    curve: list[tuple[int, float]]
    """Epochs, and the accuracy on the validation samples behind them."""


def mlp(device: Device, seed: int = SEED) -> Task:
    data = tasks.digits(np.random.default_rng(SEED))
    network = lr.MLP([*[64] * (LAYERS + 1), 10], device, seed=seed)
    return _of_samples(network, data, device, 0, cuts=CUTS)


def rnn(device: Device, seed: int = SEED) -> Task:
    data = tasks.sequences(np.random.default_rng(SEED))
    network = lr.RNN(tasks.SYMBOLS, 32, tasks.MARKED, device, seed=seed)
    return _of_samples(network, data, device, 1)


def gcn(device: Device, seed: int = SEED) -> Task:
    """An epoch is one step: all nodes are one batch."""
    data = tasks.citations(np.random.default_rng(SEED))
    graph = lr.normalised(data.edges, tasks.NODES, device, np.float32)
    network = lr.GCN(graph, device.from_host(data.words, np.float32), 16, tasks.KINDS, device, seed=seed)
    labels, trained = device.from_host(data.kinds, np.int32), device.from_host(data.trained, np.bool_)

    def epoch(rng: np.random.Generator) -> Iterator[tuple[Any, ...]]:
        del rng
        yield ()

    def gradient(method: lr.Method, noise: lr.Noise) -> lr.Gradients:
        return network.gradient(labels, trained, method, noise)

    def accuracy() -> tuple[float, float]:
        right = device.to_host(network.logits().argmax(axis=1)) == data.kinds
        return float(right[data.validated].mean()), float(right[data.tested].mean())

    return Task(network, gradient, epoch, accuracy)


def _of_samples(network: Any, data: tasks.Samples, device: Device, axis: int, **options: object) -> Task:  # noqa: ANN401
    """Batches of samples, which stand along that axis."""
    x, labels = device.from_host(data.x, np.float32), device.from_host(data.labels, np.int32)
    held_out = [
        (device.from_host(held, np.float32), classes)
        for held, classes in ((data.validation_x, data.validation_labels), (data.test_x, data.test_labels))
    ]

    def epoch(rng: np.random.Generator) -> Iterator[tuple[Any, ...]]:
        order = device.from_host(rng.permutation(len(data.labels)), np.int64)
        for first in range(0, len(data.labels) - BATCH + 1, BATCH):
            chosen = order[first : first + BATCH]
            yield x.take(chosen, axis=axis), labels[chosen]

    def accuracy() -> tuple[float, float]:
        validation, test = (
            float((device.to_host(network.logits(held).argmax(axis=1)) == classes).mean()) for held, classes in held_out
        )
        return validation, test

    return Task(network, partial(network.gradient, **options), epoch, accuracy)


MODELS: dict[str, Callable[..., Task]] = {"mlp": mlp, "rnn": rnn, "gcn": gcn}


def train(model: str, method: lr.Method, device: Device, noise: lr.Noise, epochs: int) -> Trained:
    """From the weights and with the batches that the noise's seed gives."""
    task = MODELS[model](device, noise.seed)
    rng, seconds, curve = np.random.default_rng(noise.seed), [], []
    trainer = lr.Trainer(device, task.network.thetas, RATES[model], partial(_gradient, task, method), noise)
    for epoch in range(1, epochs + 1):
        device.synchronize()
        started = time.perf_counter()
        for batch in task.epoch(rng):
            trainer.step(*batch)
        device.synchronize()
        seconds.append(time.perf_counter() - started)
        trainer.check()
        if epoch % -(-epochs // POINTS) == 0:
            curve.append((epoch, task.accuracy()[0]))
    return Trained(*task.accuracy(), float(np.median(seconds)), curve)


def _gradient(task: Task, method: lr.Method, *batch: Any) -> lr.Gradients:  # noqa: ANN401
    *arrays, noise = batch
    return task.gradient(*arrays, method, noise)


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
