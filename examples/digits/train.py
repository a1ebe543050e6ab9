"""Trains a network of three layers on scikit-learn's digits: on adgen's devices, and in PyTorch if it is there.

    python train.py [--device cpu --device openmp --device cuda] [--precision bfloat16] [--hidden 64 32]
                    [--plot curves.png]

All start with the same weights and see the same batches, so that their losses can be compared step by step. With
`--precision` each device trains with matrix products of that precision as well, on a GPU on Tensor Cores.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from network import AdgenNetwork, Floats, Network, TorchNetwork, initial_weights
from numpy.typing import NDArray

CLASSES, BATCH = 10, 32
COMPARED_STEPS, LARGEST_DIFFERENCE = 50, 1e-4
LEAST_ACCURACY = 0.96
ROUNDED = " in "
"""In the names of networks whose products are rounded."""


@dataclass(frozen=True)
class Digits:
    """Images of 8 x 8 pixels between 0 and 1, and which digit each shows; a fifth of them is held out."""

    images: Floats
    labels: NDArray[np.int64]
    held_out_images: Floats
    held_out_labels: NDArray[np.int64]


@dataclass(frozen=True)
class Trained:
    """The loss of every step, the accuracy on what was held out, and the median time of an epoch."""

    losses: list[float]
    accuracy: float
    epoch_seconds: float


def load_digits(rng: np.random.Generator) -> Digits:
    from sklearn import datasets

    images, labels = datasets.load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    images, labels = (images[order] / 16).astype(np.float32), labels[order]
    fifth = len(images) // 5
    return Digits(images[fifth:], labels[fifth:], images[:fifth], labels[:fifth])


def batches(digits: Digits, rng: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
    """An epoch of images and of rows with a 1 at the right class, in random order."""
    one_hot = np.eye(CLASSES, dtype=np.float32)[digits.labels]
    order = rng.permutation(len(digits.images))
    for first in range(0, len(order) - BATCH + 1, BATCH):
        chosen = order[first : first + BATCH]
        yield digits.images[chosen], one_hot[chosen]


def train(network: Network, digits: Digits, epochs: int, rate: float, seed: int) -> Trained:
    rng = np.random.default_rng(seed)
    losses, seconds = [], []
    for _ in range(epochs):
        placed = [(network.place(images), network.place(chosen)) for images, chosen in batches(digits, rng)]
        network.synchronize()
        started = time.perf_counter()
        losses += [network.step(images, chosen, rate) for images, chosen in placed]
        network.synchronize()
        seconds.append(time.perf_counter() - started)
    right = network.classify(network.place(digits.held_out_images)) == digits.held_out_labels
    return Trained(losses, float(right.mean()), float(np.median(seconds)))


def has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None


def networks(
    devices: list[str], extents: list[int], seed: int, precisions: Sequence[str] = ()
) -> Iterator[tuple[str, Network]]:
    """Each with the same weights; `precisions` are tried beside single precision."""
    for device in devices:
        yield device, AdgenNetwork(initial_weights(extents, np.random.default_rng(seed)), device)
        for precision in precisions:
            weights = initial_weights(extents, np.random.default_rng(seed))
            yield f"{device}{ROUNDED}{precision}", AdgenNetwork(weights, device, precision)
    if has_torch():
        for device in ("cuda", "openmp"):
            if device in devices:
                weights = initial_weights(extents, np.random.default_rng(seed))
                yield f"PyTorch, {'GPU' if device == 'cuda' else 'host'}", TorchNetwork(weights, device)


def largest_difference(results: dict[str, Trained]) -> float:
    """Of the losses in the first steps, between any two in single precision."""
    losses = np.array([r.losses[:COMPARED_STEPS] for name, r in results.items() if ROUNDED not in name])
    return float((losses.max(0) - losses.min(0)).max())


def save_plot(path: Path, results: dict[str, Trained]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    for width, (name, result) in zip(range(2 * len(results), 0, -2), results.items(), strict=True):
        axis.semilogy(result.losses, label=name, linewidth=width / 2)
    axis.set(xlabel="step", ylabel="loss")
    axis.legend(frameon=False)
    figure.savefig(path, dpi=120)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", action="append", choices=("cpu", "openmp", "cuda"))
    parser.add_argument("--precision", action="append", choices=("tf32", "bfloat16", "float16"), default=[])
    parser.add_argument("--hidden", type=int, nargs=2, default=[64, 32])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", type=Path, default=Path(__file__).with_name("curves.png"))
    options = parser.parse_args()
    digits = load_digits(np.random.default_rng(options.seed))
    extents = [digits.images.shape[1], *options.hidden, CLASSES]
    results = {}
    for name, network in networks(options.device or ["cpu", "openmp"], extents, options.seed, options.precision):
        results[name] = train(network, digits, options.epochs, options.rate, options.seed)
        found = results[name]
        print(
            f"{name:16} loss {found.losses[-1]:.4f}  accuracy {found.accuracy:.3f}  epoch {found.epoch_seconds:.3f} s"
        )
    difference = largest_difference(results)
    print(f"losses of the first {COMPARED_STEPS} steps differ by at most {difference:.1e}")
    save_plot(options.plot, results)
    accurate = all(result.accuracy >= LEAST_ACCURACY for result in results.values())
    return 0 if accurate and difference <= LARGEST_DIFFERENCE else 1


if __name__ == "__main__":
    sys.exit(main())
