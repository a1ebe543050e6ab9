"""One page of all that was measured on a GPU, from the committed data: tables and plots.

    python -m benchmarks.report OUTPUT.html [--results benchmarks/results]

Needs neither a GPU nor a compiler. A part whose data is not there says which script measures it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import jinja2

from benchmarks import plots
from enzyme_driver.optimisations import OPTIMISATIONS

HERE = Path(__file__).resolve().parent
Row = dict[str, Any]


@dataclass(frozen=True)
class Compared:
    """The libraries' times on one case by name; `faster` of the frameworks is what adgen is compared with."""

    case: str
    size: str
    times: dict[str, Row]

    @property
    def faster(self) -> Row | None:
        others = [row for library, row in self.times.items() if library != "adgen"]
        return min(others, key=lambda row: row["gradient_ms"], default=None)

    @property
    def relative(self) -> float | None:
        """adgen's time over the faster framework's."""
        if self.faster is None or "adgen" not in self.times:
            return None
        return float(self.times["adgen"]["gradient_ms"] / self.faster["gradient_ms"])


@dataclass(frozen=True)
class Ablated:
    """The gradient of one case with every optimisation, and without each: a time, or why there is none."""

    case: str
    size: str
    whole: Row | None
    without: dict[str, Row]

    def effect(self, name: str) -> float | None:
        """How many times longer the gradient takes without it."""
        row = self.without.get(name)
        if row is None or self.whole is None or row["gradient_ms"] is None or self.whole["gradient_ms"] is None:
            return None
        return float(row["gradient_ms"] / self.whole["gradient_ms"])


def read(folder: Path, name: str) -> list[Row]:
    """The rows of a data file; none where it is missing."""
    path = folder / name
    rows: list[Row] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return rows


def compared(rows: Iterable[Row]) -> list[Compared]:
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((row["case"], row["size"]), {})[row["library"]] = row
    return [Compared(case, size, times) for (case, size), times in found.items()]


def ablated(rows: Iterable[Row]) -> list[Ablated]:
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((row["case"], row["size"]), {})[row["disabled"]] = row
    return [Ablated(*known, times.pop("none", None), times) for known, times in found.items()]


def page(folder: Path) -> str:
    """The page as HTML that refers to no other file."""
    suite, scaling = read(folder, "gpu.json"), read(folder, "scaling.json")
    frameworks, ablation = compared(read(folder, "frameworks.json")), ablated(read(folder, "ablation.json"))
    left_out = list(dict.fromkeys(name for each in ablation for name in each.without))
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["ms"] = _milliseconds
    return environment.get_template("report.html.j2").render(
        suite=suite,
        where=_where([*suite, *scaling]),
        suite_plot=plots.ratios(suite),
        frameworks=frameworks,
        libraries=list(dict.fromkeys(name for each in frameworks for name in each.times)),
        frameworks_plot=plots.libraries(frameworks),
        ablation=ablation,
        left_out=left_out,
        optimisations=OPTIMISATIONS,
        by_threads=plots.scaling(scaling, "threads", "threads"),
        by_work=plots.scaling(scaling, "work", "iterations of the loop of a thread"),
    )


def _where(rows: Sequence[Row]) -> str:
    devices = sorted({row["device"] for row in rows})
    dates = sorted({row["date"] for row in rows})
    days = " to ".join(dict.fromkeys([dates[0], dates[-1]])) if dates else ""
    return f"{', '.join(devices)}, {days}" if rows else "nothing was measured yet"


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if value < 10 else f"{value:.1f}"  # noqa: PLR2004, four digits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("output", type=Path)
    parser.add_argument("--results", type=Path, default=HERE / "results")
    options = parser.parse_args()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(page(options.results), encoding="utf-8")
    click.echo(str(options.output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
