"""What each optimisation is worth: gradients compiled without it, on a GPU.

    python -m benchmarks.build_ablation FOLDER                                      where the compilers are
    python -m benchmarks.ablation FOLDER --output benchmarks/results/ablation.json  where the GPU is

FOLDER has one folder of artifacts for each optimisation, named after it, that was left out; `none` has them all. What
fails without an optimisation is recorded with the reason; where the code is the same without it, so is the time.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import click

from benchmarks.build_ablation import ARTIFACTS, LEFT_OUT, NONE
from benchmarks.case import Case
from benchmarks.cases import CASES
from benchmarks.measure import PATIENCE, device_name, measure
from enzyme_driver.artifact import read

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
    same_code: bool
    failure: str
    device: str
    date: str

    def __str__(self) -> str:
        said = "the same code" if self.same_code else self._time()
        return f"{self.case:28} {self.size:36} without {self.disabled:22} {said}"

    def _time(self) -> str:
        return f"{self.gradient_ms:.4f} ms" if self.gradient_ms is not None else f"FAILED, {self.failure}"


def chosen(texts: list[str]) -> list[Case]:
    """The cases with a text in their label; by default all but those that are too slow."""
    measured = [case for case in CASES if case.artifact in ARTIFACTS]
    if texts:
        return [case for case in measured if any(text in case.label for text in texts)]
    return [case for case in measured if not any(text in case.size for text in SLOW)]


def outcomes(case: Case, folder: Path, date: str, patience: float) -> Iterator[Outcome]:
    """With everything, and without each optimisation."""
    whole = outcome(case, folder, NONE, date, patience)
    yield whole
    everything = code(case, folder / NONE)
    for disabled in LEFT_OUT:
        if not (folder / disabled / "kernels" / case.artifact).is_dir():
            continue
        if code(case, folder / disabled) == everything:
            yield replace(whole, disabled=disabled, same_code=True)
        else:
            yield outcome(case, folder, disabled, date, patience)


def code(case: Case, folder: Path) -> set[str]:
    """Digests of the case's GPU code."""
    return {binary.sha256 for binary in read(folder / "kernels" / case.artifact).manifest.binaries.cuda.values()}


def outcome(case: Case, folder: Path, disabled: str, date: str, patience: float) -> Outcome:
    known = (case.name, case.size, disabled)
    try:
        figure = measure(case, folder / disabled, 1.0, patience)
    except Exception as error:  # noqa: BLE001, the other cases are to be measured as well
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Outcome(*known, None, None, False, reason, device_name(), date)
    return Outcome(*known, figure.primal_ms, figure.gradient_ms, False, "", figure.device, figure.date)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--case", action="append", default=[], help="only cases with this in their name or size")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds for the rounds of one figure")
    options = parser.parse_args()
    date = datetime.now(UTC).date().isoformat()
    found: list[Outcome] = []
    for case in chosen(options.case):
        for each in outcomes(case, options.folder, date, options.patience):
            found.append(each)
            click.echo(str(each))
            text = json.dumps([asdict(each) for each in found], indent=1)
            options.output.write_text(text + "\n", encoding="utf-8")
    return 0 if any(each.gradient_ms is not None for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
