"""Gradients of the same functions by adgen, JAX and PyTorch, on one GPU in one process.

    python -m benchmarks.frameworks FOLDER --output benchmarks/results/frameworks.json

FOLDER is one that `python -m cuda_kernels.build_all FOLDER` made. All three get the same arrays. A time is that of a
call in a row of calls without waiting between them, the median of several rows; adgen's launches are prepared, JAX's
are jitted. A gradient's is from the arguments to the derivatives, adgen's with the primal's outputs. `difference` is
the largest one between a framework's derivatives and adgen's, relative to the largest derivative. What fails or is not
installed is reported, and the rest is measured.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # before JAX is imported: the memory is shared

import click
import cupy as cp

import enzyme_driver as adgen
from benchmarks.case import Case, Launch
from benchmarks.cases import CASES
from benchmarks.measure import device_name

FRAMEWORKS = {"jax": "benchmarks.frameworks_jax", "pytorch": "benchmarks.frameworks_torch"}
OUTPUTS = {
    "elementwise": "y",
    "recurrence": "out",
    "tiled matmul": "C",
    "heat stencil": "v",
    "N-body tiles": "phi",
    "block reduction": "total",
}
"""The cases that are a few lines in a framework, and what they compute."""

ROWS, ROW_SECONDS, MOST_CALLS = 5, 0.1, 50


@dataclass(frozen=True)
class Timing:
    """One library on one case; times in milliseconds."""

    case: str
    size: str
    library: str
    forward_ms: float
    gradient_ms: float
    difference: float
    device: str
    date: str

    def __str__(self) -> str:
        times = f"forward {self.forward_ms:9.4f} ms  gradient {self.gradient_ms:9.4f} ms"
        return f"{self.case:20} {self.size:32} {self.library:8} {times}  difference {self.difference:.1e}"


class AdgenRuns:
    """What is timed of a case."""

    def __init__(self, launch: Launch, output: str) -> None:
        self._launch = launch
        self._output = output
        self._values = list(launch.args.values())
        self.forward = launch.kernel[launch.where].prepare(*self._values)
        self.gradient = launch.kernel.gradient[launch.where].prepare(*self._values, shadows=launch.shadows)

    def derivatives(self, cotangent: Any) -> dict[str, Any]:  # noqa: ANN401, a CuPy array
        kernel, weights = self._launch.kernel, {self._output: cotangent}
        names = [parameter.name for parameter in kernel.signature.shadowed]
        return dict(kernel.vjp[self._launch.where](*self._values, cotangents=weights, wrt=names))

    @staticmethod
    def wait(results: object) -> None:
        del results
        cp.cuda.Device().synchronize()


def call_ms(run: Callable[[], object], wait: Callable[[object], None]) -> float:
    """The time of a call, after two that are not counted."""
    wait(run())
    start = time.perf_counter()
    wait(run())
    once = time.perf_counter() - start
    calls = max(1, min(MOST_CALLS, int(ROW_SECONDS / once)))
    rows = ROWS if calls > 1 or once < 1 else 1
    return statistics.median(_row_ms(run, wait, calls) for _ in range(rows))


def _row_ms(run: Callable[[], object], wait: Callable[[object], None], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        last = run()
    wait(last)
    return 1e3 * (time.perf_counter() - start) / calls


def difference(given: Mapping[str, Any], wanted: Mapping[str, Any]) -> float:
    """The largest one of all arrays, each relative to the largest value in it."""
    worst = 0.0
    for name, array in given.items():
        found, good = cp.from_dlpack(array), wanted[name]
        worst = max(worst, float(cp.abs(found - good).max() / cp.maximum(cp.abs(good).max(), 1e-30)))
    return worst


def compared(case: Case, folder: Path) -> Iterator[Timing | str]:
    """What was measured of a case, adgen first, or why it was not."""
    output = OUTPUTS[case.name]
    kernel = next(iter(adgen.load(folder / "kernels" / case.artifact, target="cuda")))
    launch = case.launch(kernel)
    known = (device_name(), datetime.now(UTC).date().isoformat())
    cotangent = cp.ones_like(launch.args[output])
    own = AdgenRuns(launch, output)
    derivatives = own.derivatives(cotangent)
    own.wait(derivatives)
    timing = (call_ms(own.forward, own.wait), call_ms(own.gradient, own.wait))
    yield Timing(case.name, case.size, "adgen", *timing, 0.0, *known)
    for library, module in FRAMEWORKS.items():
        try:
            runs = importlib.import_module(module).Runs(case.name, launch.args, cotangent)
            found = dict(zip(runs.names, runs.gradient(), strict=True))
            runs.wait(list(found.values()))
            off = difference(found, derivatives)
            del found
            timing = (call_ms(runs.forward, runs.wait), call_ms(runs.gradient, runs.wait))
        except Exception as error:  # noqa: BLE001, the other libraries are to be measured as well
            yield f"{case.label}, {library}: FAILED, {type(error).__name__}: {error}"
            continue
        yield Timing(case.name, case.size, library, *timing, off, *known)


def results(folder: Path, texts: list[str]) -> Iterator[Timing | str]:
    for case in CASES:
        if case.name in OUTPUTS and (not texts or any(text in case.label for text in texts)):
            try:
                yield from compared(case, folder)
            except Exception as error:  # noqa: BLE001, the other cases are to be measured as well
                yield f"{case.label}: FAILED, {type(error).__name__}: {error}"
            cp.get_default_memory_pool().free_all_blocks()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--case", action="append", default=[], help="only cases with this in their name or size")
    options = parser.parse_args()
    found: list[Timing] = []
    failed = 0
    for result in results(options.folder, options.case):
        click.echo(str(result), err=isinstance(result, str))
        if isinstance(result, str):
            failed += 1
            continue
        found.append(result)
        options.output.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n", encoding="utf-8")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
