"""Runs batches of random programs in processes of their own."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATHS = os.pathsep.join((str(ROOT), str(ROOT / "tests")))


@dataclass(frozen=True)
class Patience:
    """Seconds that a batch of programs may take, and one step of the compiler; more for each, where they are many.

    At `until`, a time of the monotonic clock, all ends; what is under way then counts for nothing.
    """

    least: float = 600
    each: float = 60
    step: float = 120
    step_each: float = 20
    until: float = math.inf

    def of(self, count: int) -> float:
        return min(max(self.least, self.each * count), self.until - time.monotonic())

    def of_step(self, count: int) -> float:
        return min(max(self.step, self.step_each * count), max(self.least, self.each * count))


PATIENT = Patience()
OVER = "over"
"""Of a process that was stopped because the time of all was over."""


@dataclass(frozen=True)
class Outcome:
    """`verdict` is right, refused, wrong, crashed, race, undecided where the oracle could not tell, failed where the
    program does not compile, or hung where it does not end.
    """

    number: int
    verdict: str
    why: str = ""

    @property
    def bad(self) -> bool:
        return self.verdict not in {"right", "refused"}


@dataclass(frozen=True)
class Ended:
    """What a process said before it ended, and how it did: it failed, hung, was out of time, or there is no word."""

    lines: tuple[Mapping[str, Any], ...]
    word: str
    why: str


Run = Callable[[int, int], Ended]
"""Tries so many programs from a first one on, in a process."""


def outcomes(language: str, first: int, count: int, folder: Path, patience: Patience = PATIENT) -> list[Outcome]:
    """What became of the programs `first`, `first` + 1, …; the file lies in the folder."""

    def run(first: int, count: int) -> Ended:
        return trial("random_programs.trial", [language, str(first), str(count), str(folder)], patience, count)

    return each_of(run, first, count)


def each_of(run: Run, first: int, count: int) -> list[Outcome]:
    """What became of each program: behind one with which the process ended, and in halves where it said nothing.

    Of those only that were checked where the time was over.
    """
    if count <= 0:
        return []
    ended = run(first, count)
    found = [Outcome(**line) for line in ended.lines if line["verdict"] != "began"]
    if ended.word in {"", OVER}:
        return found
    if ended.lines:
        at = int(ended.lines[-1]["number"])
        if ended.lines[-1]["verdict"] == "began":
            found.append(Outcome(at, "hung" if ended.word == "hung" else "crashed", ended.why))
        return found + each_of(run, at + 1, first + count - at - 1)
    if count == 1:
        return [Outcome(first, ended.word, ended.why)]
    half = count // 2
    return [*each_of(run, first, half), *each_of(run, first + half, count - half)]


def trial(module: str, arguments: list[str], patience: Patience = PATIENT, count: int = 1) -> Ended:
    """Runs a module that says a line of JSON about each program; no process of its outlives it."""
    settings = {"PYTHONPATH": PATHS, "ADGEN_TIMEOUT": f"{patience.of_step(count):.0f}", "ADGEN_VERIFY": "never"}
    settings["PYTHONPATH"] += os.pathsep + os.environ.get("PYTHONPATH", "")
    seconds = patience.of(count)
    if seconds <= 0:
        return Ended((), OVER, "")
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env=os.environ | settings,
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
    if time.monotonic() >= patience.until:
        word = OVER
    return Ended(tuple(json.loads(line) for line in said.splitlines() if line.endswith("}")), word, error[-2000:])
