"""Runs batches of random programs in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATHS = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
SECONDS = 600


@dataclass(frozen=True)
class Outcome:
    """`verdict` is right, refused, wrong, crashed, undecided where the oracle could not tell, or failed where the whole
    batch did not compile.
    """

    number: int
    verdict: str
    why: str = ""

    @property
    def bad(self) -> bool:
        return self.verdict not in {"right", "refused"}


def outcomes(language: str, first: int, count: int, folder: Path) -> list[Outcome]:
    """What became of the programs `first`, `first` + 1, …; the file lies in the folder."""
    done = subprocess.run(
        [sys.executable, "-m", "random_programs.trial", language, str(first), str(count), str(folder)],
        env=os.environ | {"PYTHONPATH": PATHS, "ADGEN_TIMEOUT": str(SECONDS)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    found = [Outcome(**line) for line in said if line["verdict"] != "began"]
    if done.returncode == 0:
        return found
    if not said:
        return [Outcome(first, "failed", done.stderr[-2000:])]
    crashed = said[-1]["number"]
    found.append(Outcome(crashed, "crashed", done.stderr[-2000:]))
    left = first + count - crashed - 1
    return found + (outcomes(language, crashed + 1, left, folder) if left else [])
