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
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from benchmarks.build_ablation import ARTIFACTS, LEFT_OUT, NONE, PROGRAMS
from benchmarks.case import Case
from benchmarks.cases import CASES, more, programs
from benchmarks.measure import PATIENCE, device_name, measure_variants
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
    measured = [case for case in (*CASES, *more.CASES, *programs.CASES) if case.artifact in (*ARTIFACTS, *PROGRAMS)]
    if texts:
        return [case for case in measured if any(text in case.label for text in texts)]
    return [case for case in measured if not any(text in case.size for text in SLOW)]


def outcomes(case: Case, folder: Path, date: str, patience: float) -> Iterator[Outcome]:
    """With everything, and without each optimisation; all are timed in turn in one process."""
    everything = code(case, folder / NONE)
    there = [name for name in LEFT_OUT if artifact(case, folder / name).is_dir()]
    same = {name for name in there if code(case, folder / name) == everything}
    differing = (NONE, *(name for name in there if name not in same))
    times, failures = measure_variants(case, {name: artifact(case, folder / name) for name in differing}, patience)
    primal = times["primal"].device if "primal" in times else None
    for name in (NONE, *there):
        taken = times.get(NONE if name in same else name)
        gradient, failure = (taken.device, "") if taken else (None, failures[name])
        yield Outcome(
            case.name, case.size, name, primal, gradient, name in same, failure, device=device_name(), date=date
        )


def artifact(case: Case, folder: Path) -> Path:
    return folder / "kernels" / case.artifact


def code(case: Case, folder: Path) -> set[str]:
    """Digests of the case's GPU code."""
    return {binary.sha256 for binary in read(artifact(case, folder)).manifest.binaries.cuda.values()}


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
        if not artifact(case, options.folder / NONE).is_dir():
            continue
        for each in outcomes(case, options.folder, date, options.patience):
            found.append(each)
            click.echo(str(each))
            text = json.dumps([asdict(each) for each in found], indent=1)
            options.output.write_text(text + "\n", encoding="utf-8")
    return 0 if any(each.gradient_ms is not None for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
