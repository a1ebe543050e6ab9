"""What each optimisation is worth: gradients compiled without it, on a GPU.

    python -m benchmarks.build_ablation FOLDER                                      where the compilers are
    python -m benchmarks.ablation FOLDER --output benchmarks/results/ablation.json  where the GPU is

FOLDER has one folder of artifacts for each optimisation, named after it, that was left out; `none` has them all. What
fails without an optimisation is recorded with the reason.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from benchmarks.build_ablation import ARTIFACTS, NONE
from benchmarks.case import Case
from benchmarks.cases import CASES
from benchmarks.measure import device_name, measure
from enzyme_driver.optimisations import OPTIMISATIONS

SLOW = ("4096^2", "1000 steps")
"""Sizes that take minutes without a tape; the same kernels are measured at others."""


@dataclass(frozen=True)
class Outcome:
    """A gradient without one optimisation; times are None where it failed, for the reason in `failure`."""

    case: str
    size: str
    disabled: str
    primal_ms: float | None
    gradient_ms: float | None
    failure: str
    device: str
    date: str

    def __str__(self) -> str:
        said = f"{self.gradient_ms:.4f} ms" if self.gradient_ms is not None else f"FAILED, {self.failure}"
        return f"{self.case:28} {self.size:36} without {self.disabled:16} {said}"


def chosen(texts: list[str]) -> list[Case]:
    """The cases with a text in their label; by default all but those that are too slow."""
    measured = [case for case in CASES if case.artifact in ARTIFACTS]
    if texts:
        return [case for case in measured if any(text in case.label for text in texts)]
    return [case for case in measured if not any(text in case.size for text in SLOW)]


def outcome(case: Case, folder: Path, disabled: str, date: str) -> Outcome:
    known = (case.name, case.size, disabled)
    try:
        figure = measure(case, folder / disabled, 1.0)
    except Exception as error:  # noqa: BLE001, the other cases are to be measured as well
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Outcome(*known, None, None, reason, device_name(), date)
    return Outcome(*known, figure.primal_ms, figure.gradient_ms, "", figure.device, figure.date)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--case", action="append", default=[], help="only cases with this in their name or size")
    options = parser.parse_args()
    date = datetime.now(UTC).date().isoformat()
    found: list[Outcome] = []
    for case in chosen(options.case):
        for disabled in (NONE, *OPTIMISATIONS):
            if (options.folder / disabled / "kernels" / case.artifact).is_dir():
                found.append(outcome(case, options.folder, disabled, date))
                click.echo(str(found[-1]))
                text = json.dumps([asdict(each) for each in found], indent=1)
                options.output.write_text(text + "\n", encoding="utf-8")
    return 0 if any(each.gradient_ms is not None for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
