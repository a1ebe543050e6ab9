"""Takes times with the GPU's own events."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

import enzyme_driver as adgen
from benchmarks.case import Case, Runs

WARM_UP, REPEATS = 3, 15
PATIENCE = 40.0
"""Seconds that the rounds of a case may take, if nothing else is said; slower cases are repeated less often."""
NEGLIGIBLE = 0.02
"""A launch that takes this part of the time, or less, is not taken apart from what it launches."""
LONGEST_HOLD = 300.0

_SPIN = """
extern "C" __global__ void spin(unsigned long long nanoseconds)
{
    unsigned long long now, start;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (now - start < nanoseconds);
}
"""


@dataclass(frozen=True)
class Figure:
    """What was measured of a case; times in milliseconds.

    The ratio is that of the GPU's work; the last two are times of calls, with what Python does before the launch.
    """

    case: str
    size: str
    primal_ms: float
    gradient_ms: float
    ratio: float
    at_most: float
    floor_ms: float
    device: str
    date: str
    primal_call_ms: float
    gradient_call_ms: float

    def __str__(self) -> str:
        verdict = "kept" if self.ratio <= self.at_most else "MISSED"
        return (
            f"{self.case:28} {self.size:40} primal {self.primal_ms:9.4f} ms  gradient {self.gradient_ms:9.4f} ms  "
            f"ratio {self.ratio:7.2f} (at most {self.at_most}, {verdict})  floor {self.floor_ms:.4f} ms  "
            f"calls {self.primal_call_ms:.4f} and {self.gradient_call_ms:.4f} ms"
        )


@dataclass(frozen=True)
class Times:
    """Milliseconds of the GPU's work alone, and of a call to an idle GPU, which waits for Python to launch it."""

    device: float
    call: float


def median_ms(runs: Runs, before: Callable[[], object] = lambda: None, patience: float = PATIENCE) -> dict[str, Times]:
    """The median times of each, run in turn, so that a change of clocks meets all alike.

    `before` comes before every run and is not counted. Nor is the first round, unless the case is so slow that it
    has to do: what fits into `patience` seconds is repeated.
    """
    start = time.perf_counter()
    first = _round(runs, before)
    fitting = patience / (time.perf_counter() - start)
    for _ in range(min(WARM_UP, int(fitting / 3)) - 1):
        _round(runs, before)
    rounds = [_round(runs, before) for _ in range(min(REPEATS, int(fitting) - 1))] or [first]
    return {name: _median([times[name] for times in rounds]) for name in runs}


def _median(times: Sequence[Times]) -> Times:
    return Times(statistics.median(each.device for each in times), statistics.median(each.call for each in times))


def _round(runs: Runs, before: Callable[[], object]) -> dict[str, Times]:
    return {name: _times(run, before) for name, run in runs.items()}


def _times(run: Callable[[], object], before: Callable[[], object]) -> Times:
    began = time.perf_counter()
    before()
    filling = 1e3 * (time.perf_counter() - began)
    cp.cuda.Device().synchronize()
    call, launching = _elapsed(run)
    if launching < NEGLIGIBLE * call:
        return Times(call, call)
    _hold(milliseconds=min(2 * (filling + launching), LONGEST_HOLD))
    before()
    device, _ = _elapsed(run)
    return Times(device, call)


def _elapsed(run: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds between events before and after the run, and what the host takes to launch it."""
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    began = time.perf_counter()
    run()
    launching = 1e3 * (time.perf_counter() - began)
    end.record()
    end.synchronize()
    return float(cp.cuda.get_elapsed_time(start, end)), launching


def _hold(milliseconds: float) -> None:
    """Keep the GPU busy, so that what is launched next queues up behind."""
    _spin()((1,), (1,), (np.uint64(1e6 * milliseconds),))


@cache
def _spin() -> Any:  # noqa: ANN401, CuPy is not typed
    return cp.RawKernel(_SPIN, "spin")


def device_name() -> str:
    return str(cp.cuda.runtime.getDeviceProperties(0)["name"].decode())


def bandwidth() -> float:
    """Bytes a second of a large copy, those read and those written."""
    source, target = cp.zeros(1 << 28, dtype="float32"), cp.zeros(1 << 28, dtype="float32")
    seconds = 1e-3 * median_ms({"copy": lambda: cp.copyto(target, source)})["copy"].device
    return float(2 * source.nbytes / seconds)


def measure(case: Case, folder: Path, bytes_a_second: float, patience: float = PATIENCE) -> Figure:
    """Runs the case from its artifact in `folder`/kernels, and gives its memory back."""
    try:
        kernel = next(iter(adgen.load(folder / "kernels" / case.artifact, target="cuda")))
        launch = case.launch(kernel)
        times = median_ms(case.runs(launch), launch.refill, patience)
    finally:
        cp.get_default_memory_pool().free_all_blocks()
    primal, gradient = times["primal"], times["gradient"]
    return Figure(
        case=case.name,
        size=case.size,
        primal_ms=primal.device,
        gradient_ms=gradient.device,
        ratio=gradient.device / primal.device,
        at_most=case.at_most,
        floor_ms=case.floor.milliseconds(bytes_a_second),
        device=device_name(),
        date=datetime.now(UTC).date().isoformat(),
        primal_call_ms=primal.call,
        gradient_call_ms=gradient.call,
    )


def measure_variants(
    case: Case, artifacts: Mapping[str, Path], patience: float = PATIENCE
) -> tuple[dict[str, Times], dict[str, str]]:
    """The primal and the gradients of several artifacts of a case, run in turn, and why some failed."""
    runs: dict[str, Callable[[], object]] = {}
    failures: dict[str, str] = {}
    launch = None
    try:
        for name, artifact in artifacts.items():
            kernel = next(iter(adgen.load(artifact, target="cuda")))
            launch = replace(launch, kernel=kernel) if launch else case.launch(kernel)
            made = case.runs(launch)
            launch.refill()
            try:
                made["gradient"]()
                cp.cuda.Device().synchronize()
            except Exception as error:  # noqa: BLE001, the others are to be measured as well
                failures[name] = str(error).splitlines()[0] if str(error) else type(error).__name__
            else:
                runs.setdefault("primal", made["primal"])
                runs[name] = made["gradient"]
        return (median_ms(runs, launch.refill, patience) if launch and runs else {}), failures
    finally:
        cp.get_default_memory_pool().free_all_blocks()
