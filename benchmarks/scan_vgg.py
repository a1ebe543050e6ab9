"""Multiply-adds of back-propagation through a pruned VGG-11 on 32 x 32 images: linear, and as a scan, level by level.

    python -m benchmarks.scan_vgg [--results benchmarks/results/scan.json]

Jacobians are sparse, with the pattern of each operator. Weights are drawn as He et al. (2015) begin, and all but
the largest 3 % of each layer are pruned. Needs neither a GPU nor a compiler.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import scipy.sparse as sp

from enzyme_driver.scan.tree import levels

CHANNELS = (64, "pool", 128, "pool", 256, 256, "pool", 512, 512, "pool", 512, 512, "pool")
EDGE, COLOURS, CLASSES, KEPT = 32, 3, 10, 0.03


def jacobians(rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    """Of all operators, the first first."""
    edge, channels = EDGE, COLOURS
    for each in CHANNELS:
        if each == "pool":
            yield "maximum", pooling(channels, edge)
            edge //= 2
        else:
            yield "convolution", convolution(pruned(rng, (int(each), channels, 3, 3)), edge)
            channels = int(each)
            yield "ReLU", sp.eye_array(channels * edge * edge, dtype=np.float32, format="csr")
    yield "fully connected", sp.csr_array(pruned(rng, (CLASSES, channels * edge * edge)))


def pruned(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    weights = rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape).astype(np.float32)
    return np.where(abs(weights) > np.quantile(abs(weights), 1 - KEPT), weights, 0)


def convolution(weights: np.ndarray[Any, Any], edge: int) -> Any:  # noqa: ANN401
    """3 x 3, with zeros around the image; numbers are [channel, y, x]."""
    y, x = np.divmod(np.arange(edge * edge), edge)
    rows, columns, values = [], [], []
    for out, into, down, along in zip(*np.nonzero(weights), strict=True):
        inside = (y + down - 1 >= 0) & (y + down - 1 < edge) & (x + along - 1 >= 0) & (x + along - 1 < edge)
        pixels = np.flatnonzero(inside)
        rows.append(out * edge * edge + pixels)
        columns.append(into * edge * edge + pixels + (down - 1) * edge + along - 1)
        values.append(np.full(len(pixels), weights[out, into, down, along]))
    shape = tuple(weights.shape[axis] * edge * edge for axis in (0, 1))
    parts = (np.concatenate(each) for each in (values, rows, columns))
    value, row, column = parts
    return sp.csr_array((value, (row, column)), shape=shape)


def pooling(channels: int, edge: int) -> Any:  # noqa: ANN401
    """Of 2 x 2 numbers each: any of them may be the largest."""
    half = sp.kron(sp.eye_array(edge // 2), np.ones((1, 2)))
    return sp.csr_array(sp.kron(sp.eye_array(channels), sp.kron(half, half)).astype(np.float32))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path(__file__).resolve().parent / "results" / "scan.json")
    options = parser.parse_args()
    named = list(jacobians(np.random.default_rng(0)))
    dense = sum(matrix.shape[0] * matrix.shape[1] for _, matrix in named)
    where = {
        "part": "vgg11",
        "device": "counted",
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "command": "python -m benchmarks.scan_vgg",
    }
    rows = [
        {
            "sweep": level.sweep,
            "products": level.products,
            "operations": level.operations,
            "largest": level.largest,
            "operators": len(named),
            "dense_linear": dense,
        }
        | where
        for level in levels([matrix for _, matrix in named])
    ]
    known = json.loads(options.results.read_text(encoding="utf-8")) if options.results.exists() else []
    kept = [row for row in known if row["part"] != "vgg11"]
    options.results.write_text(json.dumps(kept + rows, indent=1) + "\n", encoding="utf-8")
    for row in rows:
        click.echo(
            f"{row['sweep']:7} {row['products']:3} products {row['operations']:.3e} largest {row['largest']:.3e}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
