"""Times gradients against their primals on a GPU, from artifacts that `python -m cuda_kernels.build_all FOLDER` made.

    python -m benchmarks.gpu FOLDER --output benchmarks/results/gpu.json [--case TEXT ...]

Needs CuPy and no compiler. Every figure is the median of several launches after warming up (fewer where they are slow),
taken with events in one process, primal and gradient in turn, queued behind other work so that what Python needs for a
launch does not count (the figures named `call` have it); the floor is the time that the primal's bytes take at the
bandwidth measured in the same run, or its flops at the rate of the data sheet. A case that fails is reported, and the
others are measured; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from benchmarks.case import Case
from benchmarks.cases import CASES
from benchmarks.measure import Figure, bandwidth, measure
from benchmarks.results_file import merged


def chosen(texts: Sequence[str]) -> list[Case]:
    """The cases whose name or size holds one of the texts; all where there is none."""
    return [case for case in CASES if not texts or any(text in case.label for text in texts)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--case", action="append", default=[], help="only cases with this in their name or size")
    options = parser.parse_args()
    kept = json.loads(options.output.read_text("utf-8")) if options.case and options.output.exists() else []
    cases = chosen(options.case)
    bytes_a_second = bandwidth()
    figures: list[Figure] = []
    for case in cases:
        try:
            figures.append(measure(case, options.folder, bytes_a_second))
        except Exception as error:  # noqa: BLE001, the other cases are to be measured as well
            click.echo(f"{case.label}: FAILED, {type(error).__name__}: {error}", err=True)
            continue
        click.echo(str(figures[-1]))
        rows = merged(kept, [asdict(figure) for figure in figures], "case", "size")
        options.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if cases and len(figures) == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
