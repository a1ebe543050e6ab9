"""One page of back-propagation as a scan, from the committed data: tables and plots.

    python -m benchmarks.scan_report OUTPUT.html [--results benchmarks/results]

Needs neither a GPU nor a compiler.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import plots
from benchmarks.page import Row, measured_on, read, rendered, write

BATCH, LENGTH = 16, 1000
"""Along which lengths and batches vary."""


def with_graphs(rows: list[Row]) -> list[Row]:
    """The network's rows, with what was measured of cuDNN in CUDA graphs."""
    graphs = {(row["length"], row["batch"]): row for row in rows if row["part"] == "rnn_graphs"}
    names = ("cudnn_forward_graph_ms", "cudnn_backward_graph_ms", "cudnn_training_graph_ms")
    return [
        row | {name: graphs.get((row["length"], row["batch"]), {}).get(name) for name in names}
        for row in rows
        if row["part"] == "rnn"
    ]


def page(folder: Path) -> str:
    """The page as HTML that refers to no other file."""
    rows = read(folder, "scan.json")
    of = {
        part: [row for row in rows if row["part"] == part]
        for part in ("robertson", "kalman", "gru", "host", "chunks", "vgg11")
    }
    network = with_graphs(rows)
    curves = [row for row in rows if row["part"] == "curves"]
    parts_of_gpu = [row for row in rows if row["part"] == "multiprocessors"]
    by_length = sorted((row for row in network if row["batch"] == BATCH), key=lambda row: row["length"])
    by_batch = sorted((row for row in network if row["length"] == LENGTH), key=lambda row: row["batch"])
    return rendered(
        "scan_report.html.j2",
        where=measured_on([row for row in rows if row["part"] != "vgg11"]),
        network=[*by_length, *(row for row in by_batch if row["batch"] != BATCH)],
        length_plot=plots.faster(by_length, "length", "length of the streams, batch 16"),
        batch_plot=plots.faster(by_batch, "batch", "streams at once, length 1,000"),
        curves=[(row, plots.lines(*_losses(row), logarithmic=(False, False))) for row in curves],
        parts_of_gpu=parts_of_gpu,
        part_plot=plots.lines(*_by_part(parts_of_gpu), logarithmic=(True, True)),
        sparsity=read(folder, "sparsity.json"),
        **of,
    )


def _losses(row: Row) -> tuple[dict[str, list[tuple[float, float]]], str, str]:
    names = {"scan": "scan", "linear": "step by step", "cudnn": "PyTorch with cuDNN"}
    return {names[name]: list(enumerate(losses)) for name, losses in row["losses"].items()}, "step of training", "loss"


def _by_part(rows: list[Row]) -> tuple[dict[str, list[tuple[float, float]]], str, str]:
    shown: dict[str, list[tuple[float, float]]] = {}
    for row in sorted(rows, key=lambda row: row["free"]):
        shown.setdefault(f"length {row['length']}", []).append((row["free"], row["backward_ms"]))
    return shown, "multiprocessors", "backward pass, ms"


if __name__ == "__main__":
    sys.exit(write(page, __doc__))
