"""Trains a recurrent network to tell streams of random bits apart; its gradient is a parallel scan over time.

    python train.py [--target openmp|cuda] [--length 100] [--batch 16] [--steps 200] [--against-torch]

A network starts from the same weights twice: one gradient is made by the scan, the other step by step. The first losses
must be the same but for rounding, and with --against-torch those of PyTorch as well; later on training itself makes
rounding large (so it does between float and double in NumPy), so that then the two gradients by the same weights are
compared. Ends with status 1 where they are not the same.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from network import HIDDEN, Network, kernels, streams, weights

CLOSE = 1e-3
LARGEST_NORM = 1.0
"""Of a gradient, as usual for recurrent networks: those of long streams explode."""

ALIKE = 50
"""Steps of training in which rounding stays small."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", choices=["openmp", "cuda"], default="openmp")
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--against-torch", action="store_true")
    options = parser.parse_args()
    begin, made = weights(np.random.default_rng(0)), kernels(options.target)
    curves, networks = {}, {}
    for method in ("scan", "linear"):
        networks[method] = network = Network(made, begin, options.length, options.batch, method=method)
        curves[method] = [step(network, *batch, options.rate) for batch in batches(options)]
    if options.against_torch:
        curves["PyTorch"] = by_torch(begin, options)
    for name, losses in curves.items():
        print(f"{name:8} loss {np.mean(losses[:10]):.4f} at first, {np.mean(losses[-10:]):.4f} at last")
    worst = max(float(np.abs(np.subtract(curves["scan"], other))[:ALIKE].max()) for other in curves.values())
    apart = _gradients_apart(networks["scan"])
    print(
        f"the first {ALIKE} losses differ by {worst:.1e} at most, the gradients at the end by {apart:.1e} of their size"
    )
    learned = options.steps < 200 or np.mean(curves["scan"][-10:]) < np.mean(curves["scan"][:10])  # noqa: PLR2004
    return 0 if max(worst, apart) < CLOSE and learned else 1


def _gradients_apart(network: Network) -> float:
    """How far those by the scan and step by step are from each other, by the weights that training ended with."""
    network.forward()
    found = []
    for method in ("scan", "linear"):
        network.method = method
        found.append(network.backward())
    pairs = [(found[0][name], found[1][name]) for name in found[0]]
    return max(float(abs(one - other).max() / abs(other).max()) for one, other in pairs)


def batches(options: argparse.Namespace) -> Any:  # noqa: ANN401
    rng = np.random.default_rng(1)
    return (streams(rng, options.length, options.batch) for _ in range(options.steps))


def step(network: Network, bits: Any, labels: Any, rate: float) -> float:  # noqa: ANN401
    xp = network.library
    network.bits[...], network.labels[...] = xp.asarray(bits), xp.asarray(labels)
    network.descend(rate, largest_norm=LARGEST_NORM)
    return float(network.losses.mean())


def by_torch(begin: dict[str, Any], options: argparse.Namespace) -> list[float]:
    """The same in PyTorch, on the GPU where the network is there: with cuDNN, without TF32."""
    import torch

    torch.backends.cudnn.allow_tf32 = False
    device = "cuda" if options.target == "cuda" else "cpu"
    given = {name: torch.tensor(value, device=device) for name, value in begin.items()}
    rnn, head = torch.nn.RNN(1, HIDDEN).to(device), torch.nn.Linear(HIDDEN, len(begin["out_bias"])).to(device)
    with torch.no_grad():
        rnn.weight_hh_l0.copy_(given["hidden_weight"])
        rnn.weight_ih_l0.copy_(given["input_weight"][:, None])
        rnn.bias_hh_l0.copy_(given["bias"])
        rnn.bias_ih_l0.zero_()
        head.weight.copy_(given["out_weight"])
        head.bias.copy_(given["out_bias"])
    rnn.bias_ih_l0.requires_grad_(requires_grad=False)
    optimizer = torch.optim.SGD(
        [each for each in (*rnn.parameters(), *head.parameters()) if each.requires_grad], options.rate
    )
    losses = []
    for bits, labels in batches(options):
        optimizer.zero_grad()
        _, last = rnn(torch.tensor(bits[..., None], device=device))
        loss = torch.nn.functional.cross_entropy(head(last[0]), torch.tensor(labels.astype(np.int64), device=device))
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*rnn.parameters(), *head.parameters()], LARGEST_NORM)
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


if __name__ == "__main__":
    sys.exit(main())
