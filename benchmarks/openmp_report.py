"""One page of what was measured on the host, from the committed data: C++ programs with OpenMP and CUDA kernels.

    python -m benchmarks.openmp_report OUTPUT.html [--results benchmarks/results]

Needs no compiler.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import plots
from benchmarks.page import measured_on, read, rendered, write


def page(folder: Path) -> str:
    """The page as HTML that refers to no other file."""
    rows = read(folder, "openmp.json")
    return rendered(
        "openmp_report.html.j2",
        rows=rows,
        least_efficiency=plots.LEAST_EFFICIENCY,
        where=measured_on(rows),
        ratios=plots.ratios([row for row in rows if row["threads"] == 1]),
        by_threads=plots.speedups(rows),
    )


if __name__ == "__main__":
    sys.exit(write(page, __doc__))
