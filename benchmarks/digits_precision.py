"""How far single precision takes the losses of the digits' network from those of double precision, for several starts.

    python -m benchmarks.digits_precision OUTPUT.json [--device cuda] [--starts 12] [--hidden 64 32] [--built FOLDER]

A unit whose input is zero but for rounding is on in one training and off in another, and from there on their losses
go apart: this shows how often that happens to adgen, and how often to PyTorch. Needs PyTorch, whose training in
double precision both are compared with. Writes a list of objects: where, model, hidden, parameters, starts, steps,
limit, beyond (how many starts differ by more than the limit somewhere), median and largest (of the starts' largest
differences), date.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.digits import HIDDEN, RATE, SEED, parameters, train
from enzyme_driver import tensor as ad

from network import AdgenNetwork, Network, TorchNetwork, Weights, initial_weights  # isort: skip  (digits found it)

Batch = tuple[NDArray[np.float32], NDArray[np.float32]]


def first_batches(digits: train.Digits) -> list[Batch]:
    """Those of the compared steps."""
    rng = np.random.default_rng(SEED)

    def without_end() -> Iterator[Batch]:
        while True:
            yield from train.batches(digits, rng)

    return list(islice(without_end(), train.COMPARED_STEPS))


def losses(network: Network, batches: list[Batch], dtype: str) -> NDArray[np.float64]:
    """One a step."""
    return np.array(
        [
            network.step(network.place(images.astype(dtype)), network.place(chosen.astype(dtype)), RATE)
            for images, chosen in batches
        ]
    )


def differences(device: str, weights: Weights, batches: list[Batch]) -> dict[str, float]:
    """The largest difference from double precision, of adgen and of PyTorch on the device."""
    double = TorchNetwork([np.asarray(each, np.float64) for each in weights], device)
    exact = losses(double, batches, "float64")
    single = {device: AdgenNetwork(weights, device), "PyTorch": TorchNetwork(weights, device)}
    return {name: float(abs(losses(each, batches, "float32") - exact).max()) for name, each in single.items()}


def rows(device: str, hidden: tuple[int, int], starts: int) -> list[dict[str, object]]:
    digits = train.load_digits(np.random.default_rng(SEED))
    batches = first_batches(digits)
    extents = [digits.images.shape[1], *hidden, train.CLASSES]
    found = [differences(device, initial_weights(extents, np.random.default_rng(s)), batches) for s in range(starts)]
    return [
        {
            "where": name,
            "model": ad.Device(device).model,  # type: ignore[arg-type]
            "hidden": list(hidden),
            "parameters": parameters(extents),
            "starts": starts,
            "steps": train.COMPARED_STEPS,
            "limit": train.LARGEST_DIFFERENCE,
            "beyond": sum(each[name] > train.LARGEST_DIFFERENCE for each in found),
            "median": float(np.median([each[name] for each in found])),
            "largest": max(each[name] for each in found),
            "date": dt.datetime.now(dt.UTC).date().isoformat(),
        }
        for name in found[0]
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("output", type=Path)
    parser.add_argument("--device", choices=("openmp", "cuda"), default="cuda")
    parser.add_argument("--hidden", action="append", type=int, nargs=2)
    parser.add_argument("--starts", type=int, default=12)
    parser.add_argument("--built", type=Path)
    options = parser.parse_args()
    ad.use_built(options.built)
    found = []
    for hidden in [tuple(hidden) for hidden in options.hidden or HIDDEN]:
        found += rows(options.device, hidden, options.starts)
        for row in found[-2:]:
            click.echo(
                f"{row['where']:10} {hidden} {row['beyond']} of {row['starts']}, median {row['median']:.1e}", err=True
            )
    options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
