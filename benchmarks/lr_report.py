"""One page of training by likelihood ratios and of Tensor Cores, from the committed data: tables and plots.

    python -m benchmarks.lr_report OUTPUT.html [--results benchmarks/results]

Needs neither a GPU nor a compiler.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from markupsafe import Markup

from benchmarks import plots
from benchmarks.page import Row, measured_on, read, rendered, write

PUBLISHED = {
    "mlp": {"BP": (99.5, 77), "LR-F": (92.2, 189), "LR-L": (92.2, 225), "LR-M": (99.5, 58)},
    "rnn": {"BP": (88.3, 195), "LR-F": (84.2, 275), "LR-L": (84.3, 327), "LR-M": (88.4, 140)},
    "gcn": {"BP": (80.4, 111), "LR-F": (75.6, 203), "LR-L": (75.2, 259), "LR-M": (78.8, 103)},
}
"""Accuracy in percent and seconds an epoch, of other data and another GPU (arXiv 2305.08960)."""


def page(folder: Path) -> str:
    """The page as HTML that refers to no other file."""
    path = folder / "lr.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    tensor = read(folder, "tensor_cores.json")
    return rendered(
        "lr_report.html.j2",
        where=f"{found['device']}, {found['date']}" if found else "nothing was measured yet",
        models=_models(found.get("rows", [])),
        variance_plot=plots.lines(
            _cosines(found.get("variance", [])), "copies", "cosine to the gradient", logarithmic=(True, False)
        ),
        curves=_curves(found.get("rows", [])),
        tensor=tensor,
        tensor_where=measured_on(tensor),
    )


def _models(rows: list[Row]) -> dict[str, list[Row]]:
    """By model, with how many times faster than back-propagation an epoch is."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["model"], []).append(row)
    for model, shown in found.items():
        exact = next(row for row in shown if row["method"] == "BP")
        for row in shown:
            row["faster"] = exact["epoch_seconds"] / row["epoch_seconds"]
            row["published"] = PUBLISHED[model][row["method"]]
    return found


def _curves(rows: list[Row]) -> dict[str, Markup]:
    """A plot for each model: the accuracy on validation samples by the epoch, of one seed."""
    shown: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        shown.setdefault(row["model"], {})[row["method"]] = row["curve"]
    return {
        model: plots.lines(curves, "epoch", "accuracy", logarithmic=(False, False)) for model, curves in shown.items()
    }


def _cosines(rows: list[Row]) -> dict[str, list[tuple[float, float]]]:
    shown: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        shown.setdefault(row["kind"], []).append((row["copies"], row["cosine"]))
    return shown


if __name__ == "__main__":
    sys.exit(write(page, __doc__))
