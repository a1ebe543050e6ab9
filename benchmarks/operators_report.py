"""One page of the tensor operators' measured times, from the committed data: tables and plots.

python -m benchmarks.operators_report OUTPUT.html [--results benchmarks/results]
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from benchmarks import plots
from benchmarks.page import Row, measured_on, read, rendered, write

GROUPS = {
    "arithmetic": ("add", "subtract", "multiply", "divide", "power"),
    "of one array": ("copy", "negate", "exp", "log", "relu"),
    "along an axis": (
        *("sum, axis 0", "sum, axis 1", "max, axis 0", "max, axis 1"),
        *("broadcast, axis 0", "broadcast, axis 1"),
    ),
    "matrices": ("transpose", "matmul", "matmul by rule"),
}
SWEPT_EDGE = 1024
"""At which threads of a block are varied."""


@dataclass(frozen=True)
class Group:
    """The operators of a kind: what was measured of them, and how it grows."""

    name: str
    table: list[Row]
    by_size: Markup
    speed_up: Markup
    by_block: Markup


def best(rows: Iterable[Row]) -> list[Row]:
    """Of each operator, device and shape the launch with the fastest forward pass."""
    found: dict[tuple[object, ...], Row] = {}
    for row in rows:
        key = row["operator"], row["device"], row["model"], tuple(row["shape"])
        if key not in found or row["forward_ms"] < found[key]["forward_ms"]:
            found[key] = row
    return list(found.values())


def group(name: str, rows: Sequence[Row], edge: int) -> Group:
    of_kind = [row for row in rows if row["operator"] in GROUPS[name]]
    fastest = best(of_kind)
    table = [row for row in fastest if row["shape"][0] == edge]
    on_gpu = [row for row in of_kind if row["device"] == "cuda" and row["shape"][0] == SWEPT_EDGE]
    return Group(name, table, plots.by_size(fastest), plots.speed_up(fastest), plots.by_block(on_gpu))


def page(folder: Path) -> str:
    measured = read(folder, "operators.json")
    rows = [row for row in measured if row["forward_ms"] is not None]
    edge = max((row["shape"][0] for row in rows), default=0)
    epochs = read(folder, "digits.json")
    return rendered(
        "operators_report.html.j2",
        where=measured_on(rows, "model"),
        groups=[group(name, rows, edge) for name in GROUPS] if rows else [],
        left_out=[row for row in measured if row["forward_ms"] is None],
        edge=edge,
        epochs=epochs,
        epochs_plot=plots.epochs(epochs),
        precision=read(folder, "digits_precision.json"),
    )


if __name__ == "__main__":
    sys.exit(write(page, __doc__))
