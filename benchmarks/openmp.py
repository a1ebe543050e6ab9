"""Times of C++ programs with OpenMP and of their gradients on this machine.

`python -m benchmarks.openmp [case ...]` measures every case at 1 and 2 threads (and 4, 8, 16 where the machine has as
many); without names of cases it writes results/openmp.json. Primal and gradient run in turn in one process; figures are
medians, in milliseconds.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np

import enzyme_driver as adgen
from benchmarks.host_cases import CASES, FOLDER, Arguments, HostCase

RESULTS = Path(__file__).resolve().parent / "results" / "openmp.json"
TEAMS = (1, 2, 4, 8, 16)
SECONDS, FEWEST = 6.0, 3


@dataclass(frozen=True)
class Figure:
    """One line of the results."""

    case: str
    size: str
    threads: int
    primal_ms: float
    gradient_ms: float
    ratio: float
    at_most: float
    device: str
    date: str


def device() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{models[0] if models else platform.processor()}, {os.cpu_count()} cores"


def measure(case: HostCase, threads: int) -> Figure:
    function = adgen.compile(FOLDER / case.file, function=case.function, activity=case.activity)
    args = case.make(np.random.default_rng(1))
    shadows = {
        parameter.name: np.zeros_like(args[parameter.name])
        for parameter in function.signature
        if parameter.activity == "duplicated"
    }
    for parameter in function.signature:
        if parameter.writes and parameter.name in shadows:
            for part in _parts(shadows[parameter.name]):
                part[...] = 1

    def primal(fresh: Arguments) -> None:
        function(*fresh.values())

    def gradient(fresh: Arguments) -> None:
        function.gradient(*fresh.values(), shadows={name: shadow.copy() for name, shadow in shadows.items()})

    primal_ms, gradient_ms, ratio = _in_turn(args, primal, gradient)
    today = dt.datetime.now(dt.UTC).date().isoformat()
    at_most = case.at_most[threads if threads in case.at_most else max(case.at_most)]
    return Figure(case.name, case.size, threads, primal_ms, gradient_ms, ratio, at_most, device(), today)


def _parts(array: np.ndarray) -> Iterable[np.ndarray]:
    return [array[name] for name in array.dtype.names] if array.dtype.names else [array]


def _in_turn(args: Arguments, *runs: Callable[[Arguments], None]) -> tuple[float, float, float]:
    """Medians of the times of both, and of their ratio. The first round is not counted."""
    rounds: list[list[float]] = []
    end = time.perf_counter() + SECONDS
    while len(rounds) <= FEWEST or time.perf_counter() < end:
        rounds.append([_milliseconds(run, args) for run in runs])
    first, second = zip(*rounds[1:], strict=True)
    ratio = median(b / a for a, b in zip(first, second, strict=True))
    return round(median(first), 3), round(median(second), 3), round(ratio, 2)


def _milliseconds(run: Callable[[Arguments], None], args: Arguments) -> float:
    fresh = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in args.items()}
    start = time.perf_counter()
    run(fresh)
    return 1e3 * (time.perf_counter() - start)


def measured(case: HostCase, threads: int) -> Figure:
    """In a process of its own, which has that many threads."""
    argv = [sys.executable, "-m", "benchmarks.openmp", "--one", case.name, str(threads)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    return Figure(**json.loads(done.stdout))


def main(names: list[str]) -> None:
    if names[:1] == ["--one"]:
        (case,) = [case for case in CASES if case.name == names[1]]
        print(json.dumps(asdict(measure(case, int(names[2])))))
        return
    figures = []
    for case in CASES:
        if names and case.name not in names:
            continue
        for threads in TEAMS:
            if threads <= (os.cpu_count() or 1) and (threads == 1 or len(case.at_most) > 1):
                figures.append(measured(case, threads))
                last = figures[-1]
                print(
                    f"{case.name:18} {threads:2} threads  primal {last.primal_ms:9.2f} ms  gradient "
                    f"{last.gradient_ms:9.2f} ms  ratio {last.ratio:6.2f} (at most {last.at_most})",
                    flush=True,
                )
    if not names:
        RESULTS.write_text(json.dumps([asdict(figure) for figure in figures], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
