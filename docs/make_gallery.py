"""Draws the plots of docs/gallery.md: by the examples' own scripts on the host, and from benchmarks/results.

python docs/make_gallery.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks import plots
from benchmarks.page import read
from benchmarks.report import compared
from benchmarks.scan_report import BATCH, with_graphs

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SCRIPTS = {
    "heat2d.png": "heat2d/recover.py",
    "nbody.png": "nbody/forces.py",
    "least_squares.png": "least_squares/fit.py",
    "digits.png": "digits/train.py",
    "jax_fit.png": "jax_fit/fit.py --size 32",
}
SPARSER = "derivatives alone"
"""Cases that have no counterpart in the frameworks are left out of the plot beside them."""


def main() -> None:
    for image, script in SCRIPTS.items():
        file, *options = script.split()
        command = [sys.executable, str(ROOT / "examples" / file), *options, "--plot", str(IMAGES / image)]
        subprocess.run(command, check=True)  # noqa: S603, the examples themselves
    results = ROOT / "benchmarks" / "results"
    cases = [case for case in compared(read(results, "frameworks.json")) if SPARSER not in case.size]
    (IMAGES / "frameworks.svg").write_text(plots.libraries(cases), encoding="utf-8")
    networks = [row for row in with_graphs(read(results, "scan.json")) if row["batch"] == BATCH]
    networks.sort(key=lambda row: row["length"])
    plot = plots.faster(networks, "length", f"length of the streams, batch {BATCH}")
    (IMAGES / "scan.svg").write_text(plot, encoding="utf-8")


if __name__ == "__main__":
    main()
