"""Runs batches of random programs in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATHS = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
SECONDS = 600
SECONDS_EACH = 60
"""Of each program, where there are many in a file."""
STEP_SECONDS = 120
STEP_SECONDS_EACH = 20
"""Of one step of the compiler."""


@dataclass(frozen=True)
class Outcome:
    """`verdict` is right, refused, wrong, crashed, undecided where the oracle could not tell, failed where the program
    does not compile, or hung where it does not end.
    """

    number: int
    verdict: str
    why: str = ""

    @property
    def bad(self) -> bool:
        return self.verdict not in {"right", "refused"}


@dataclass(frozen=True)
class _Ended:
    """What a process said before it ended, and how it did."""

    lines: tuple[Mapping[str, Any], ...]
    word: str
    why: str


def outcomes(language: str, first: int, count: int, folder: Path, seconds: int = SECONDS) -> list[Outcome]:
    """What became of the programs `first`, `first` + 1, …; the file lies in the folder."""
    if count <= 0:
        return []
    most = max(seconds, SECONDS_EACH * count)
    ended = trial([language, str(first), str(count), str(folder)], most, max(STEP_SECONDS, STEP_SECONDS_EACH * count))
    found = [Outcome(**line) for line in ended.lines if line["verdict"] != "began"]
    if not ended.word:
        return found
    if ended.lines:
        at = int(ended.lines[-1]["number"])
        found.append(Outcome(at, "hung" if ended.word == "hung" else "crashed", ended.why))
        return found + outcomes(language, at + 1, first + count - at - 1, folder, seconds)
    if count == 1:
        return [Outcome(first, ended.word, ended.why)]
    half = count // 2
    return [
        *outcomes(language, first, half, folder, seconds),
        *outcomes(language, first + half, count - half, folder, seconds),
    ]


def trial(arguments: list[str], seconds: int, step: int = STEP_SECONDS) -> _Ended:
    """Runs `random_programs.trial`; no process of its outlives it."""
    with subprocess.Popen(
        [sys.executable, "-m", "random_programs.trial", *arguments],
        env=os.environ | {"PYTHONPATH": PATHS, "ADGEN_TIMEOUT": str(min(seconds, step)), "ADGEN_VERIFY": "never"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            said, error = process.communicate(timeout=seconds)
            word = "failed" if process.returncode else ""
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, error = process.communicate()
            word = "hung"
    return _Ended(tuple(json.loads(line) for line in said.splitlines() if line.endswith("}")), word, error[-2000:])
