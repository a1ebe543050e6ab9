"""The three-layer network of examples/digits by size and device: time of an epoch, accuracy, losses beside PyTorch's.

    python -m benchmarks.digits OUTPUT.json [--device openmp ...] [--precision bfloat16 ...] [--hidden 64 32 ...]
                                [--epochs 3] [--built FOLDER]

Writes a list of objects: where (device, with the precision of its products unless it is float32, or PyTorch), model,
hidden, parameters, epochs, epoch_ms (median), accuracy (on the held-out fifth after the last epoch), largest_difference
(of the losses of the first 50 steps, between all that were trained in single precision), date.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import click
import numpy as np

from enzyme_driver import tensor as ad

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples" / "digits"))

import train

HIDDEN = ((64, 32), (256, 256), (512, 512), (1024, 1024), (3072, 3072))
"""7 thousand to 10 million parameters."""
RATE, SEED = 0.1, 1


def parameters(extents: list[int]) -> int:
    return sum((inputs + 1) * outputs for inputs, outputs in pairwise(extents))


def rows(
    devices: list[str], hidden: tuple[int, int], epochs: int, precisions: Sequence[str]
) -> list[dict[str, object]]:
    digits = train.load_digits(np.random.default_rng(SEED))
    extents = [digits.images.shape[1], *hidden, train.CLASSES]
    results = {}
    for name, network in train.networks(devices, extents, SEED, precisions):
        results[name] = train.train(network, digits, epochs, RATE, SEED)
        click.echo(f"{name:15} {hidden} {1e3 * results[name].epoch_seconds:.1f} ms", err=True)
    return [
        {
            "where": name,
            "model": ad.Device("cuda" if "cuda" in devices else "openmp").model,
            "hidden": list(hidden),
            "parameters": parameters(extents),
            "epochs": epochs,
            "epoch_ms": 1e3 * result.epoch_seconds,
            "accuracy": result.accuracy,
            "largest_difference": train.largest_difference(results),
            "date": dt.datetime.now(dt.UTC).date().isoformat(),
        }
        for name, result in results.items()
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("output", type=Path)
    parser.add_argument("--device", action="append", choices=("cpu", "openmp", "cuda"))
    parser.add_argument("--precision", action="append", choices=ad.PRECISIONS[1:], default=[])
    parser.add_argument("--hidden", action="append", type=int, nargs=2)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--built", type=Path)
    options = parser.parse_args()
    ad.use_built(options.built)
    sizes = [tuple(hidden) for hidden in options.hidden or HIDDEN]
    devices = options.device or ["openmp"]
    found = [row for hidden in sizes for row in rows(devices, hidden, options.epochs, options.precision)]
    options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
