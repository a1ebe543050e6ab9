"""Takes times with the GPU's own events."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import cupy as cp

import enzyme_driver as adgen
from benchmarks.case import Case, Runs

WARM_UP, REPEATS = 3, 15
PATIENCE = 40.0
"""Seconds that the rounds of a case may take; slower cases are repeated less often."""


@dataclass(frozen=True)
class Figure:
    """What was measured of a case; times in milliseconds."""

    case: str
    size: str
    primal_ms: float
    gradient_ms: float
    ratio: float
    at_most: float
    floor_ms: float
    device: str
    date: str

    def __str__(self) -> str:
        verdict = "kept" if self.ratio <= self.at_most else "MISSED"
        return (
            f"{self.case:28} {self.size:40} primal {self.primal_ms:9.4f} ms  gradient {self.gradient_ms:9.4f} ms  "
            f"ratio {self.ratio:7.2f} (at most {self.at_most}, {verdict})  floor {self.floor_ms:.4f} ms"
        )


def median_ms(runs: Runs) -> dict[str, float]:
    """The median time of each, run in turn, so that a change of clocks meets all alike.

    The first round is not counted, unless the case is so slow that it has to do.
    """
    start = time.perf_counter()
    first = _round(runs)
    fitting = PATIENCE / (time.perf_counter() - start)
    for _ in range(min(WARM_UP, int(fitting / 3)) - 1):
        _round(runs)
    rounds = [_round(runs) for _ in range(min(REPEATS, int(fitting) - 1))] or [first]
    return {name: statistics.median(times[name] for times in rounds) for name in runs}


def _round(runs: Runs) -> dict[str, float]:
    return {name: _elapsed(run) for name, run in runs.items()}


def _elapsed(run: Callable[[], object]) -> float:
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    run()
    end.record()
    end.synchronize()
    return float(cp.cuda.get_elapsed_time(start, end))


def device_name() -> str:
    return str(cp.cuda.runtime.getDeviceProperties(0)["name"].decode())


def bandwidth() -> float:
    """Bytes a second of a large copy, those read and those written."""
    source, target = cp.zeros(1 << 28, dtype="float32"), cp.zeros(1 << 28, dtype="float32")
    seconds = 1e-3 * median_ms({"copy": lambda: cp.copyto(target, source)})["copy"]
    return float(2 * source.nbytes / seconds)


def measure(case: Case, folder: Path, bytes_a_second: float) -> Figure:
    """Runs the case from its artifact in `folder`/kernels, and gives its memory back."""
    try:
        kernel = next(iter(adgen.load(folder / "kernels" / case.artifact, target="cuda")))
        times = median_ms(case.runs(case.launch(kernel)))
    finally:
        cp.get_default_memory_pool().free_all_blocks()
    return Figure(
        case=case.name,
        size=case.size,
        primal_ms=times["primal"],
        gradient_ms=times["gradient"],
        ratio=times["gradient"] / times["primal"],
        at_most=case.at_most,
        floor_ms=case.floor.milliseconds(bytes_a_second),
        device=device_name(),
        date=datetime.now(UTC).date().isoformat(),
    )
