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
        part: [row for row in rows if row["part"] == part] for part in ("robertson", "kalman", "gru", "host", "chunks")
    }
    network = with_graphs(rows)
    by_length = sorted((row for row in network if row["batch"] == BATCH), key=lambda row: row["length"])
    by_batch = sorted((row for row in network if row["length"] == LENGTH), key=lambda row: row["batch"])
    return rendered(
        "scan_report.html.j2",
        where=measured_on(rows),
        network=[*by_length, *(row for row in by_batch if row["batch"] != BATCH)],
        length_plot=plots.faster(by_length, "length", "length of the streams, batch 16"),
        batch_plot=plots.faster(by_batch, "batch", "streams at once, length 1,000"),
        sparsity=read(folder, "sparsity.json"),
        **of,
    )


if __name__ == "__main__":
    sys.exit(write(page, __doc__))
