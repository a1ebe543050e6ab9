"""One page of all that was measured on a GPU, from the committed data: tables and plots.

    python -m benchmarks.report OUTPUT.html [--results benchmarks/results]

Needs neither a GPU nor a compiler. A part whose data is not there says which script measures it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import plots
from benchmarks.page import Row, measured_on, read, read_object, rendered, write
from enzyme_driver.optimisations import OPTIMISATIONS


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


def compared(rows: Iterable[Row]) -> list[Compared]:
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((row["case"], row["size"]), {})[row["library"]] = row
    return [Compared(case, size, times) for (case, size), times in found.items()]


def ablated(rows: Iterable[Row]) -> list[Ablated]:
    """By case, GPU and day: only times of one GPU and of one state of adgen are compared."""
    found: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in rows:
        where = f"{row['size']}, {row['device'].removeprefix('NVIDIA ').split()[0]}"
        found.setdefault((row["case"], where, row.get("date", "")), {})[row["disabled"]] = row
    return [Ablated(case, where, times.pop("none", None), times) for (case, where, _), times in found.items()]


def page(folder: Path) -> str:
    """The page as HTML that refers to no other file."""
    suite, scaling = read(folder, "gpu.json"), read(folder, "scaling.json")
    frameworks, ablation = compared(read(folder, "frameworks.json")), ablated(read(folder, "ablation.json"))
    devices = read_object(folder, "devices.json")
    left_out = list(dict.fromkeys(name for each in ablation for name in each.without))
    return rendered(
        "report.html.j2",
        suite=suite,
        where=measured_on([*suite, *scaling]),
        suite_plot=plots.ratios(suite),
        frameworks=frameworks,
        libraries=list(dict.fromkeys(name for each in frameworks for name in each.times)),
        frameworks_plot=plots.libraries(frameworks),
        ablation=ablation,
        left_out=left_out,
        optimisations=OPTIMISATIONS,
        by_threads=plots.scaling(scaling, "threads", "threads"),
        by_work=plots.scaling(scaling, "work", "iterations of the loop of a thread"),
        devices=devices,
        devices_plot=plots.devices(devices),
    )


if __name__ == "__main__":
    sys.exit(write(page, __doc__))
