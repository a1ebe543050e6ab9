"""How long a user waits: a cold compilation, a warm start, the import. Medians of whole processes.

Writes results/compile_time.json beside itself; leaves with status 1 where a case takes longer than it may.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "examples" / "black_scholes" / "black_scholes.cu"
RESULTS = HERE / "results" / "compile_time.json"
RUNS = 7

WARM = f"""
import numpy as np
import enzyme_driver as adgen
price = adgen.compile({str(SOURCE)!r}, kernel="price")
ones = np.ones(1000, np.float32)
args = [ones.copy() for _ in range(5)] + [np.ones(1000, np.int32), np.zeros(1000, np.float32), 1000]
greeks = price.vjp[4, 256](*args, cotangents={{"price": ones}})
assert 0 < greeks["spot"][0] < 1
"""


@dataclass(frozen=True)
class Case:
    """A command, how often it is run, and what is done before each run, which is not counted."""

    name: str
    at_most: float
    argv: tuple[str, ...]
    before: Callable[[], None]


@dataclass(frozen=True)
class Result:
    """Seconds of wall time: the median, the limit, every run."""

    case: str
    seconds: float
    at_most: float
    runs: tuple[float, ...]


def cases(cache: Path, output: Path) -> tuple[Case, ...]:
    def forget() -> None:
        shutil.rmtree(cache / "v1", ignore_errors=True)

    def nothing() -> None:
        return

    compile_both = ("-m", "enzyme_driver", "compile", str(SOURCE), "-t", "openmp", "-t", "cuda", "-o", str(output))
    return (
        Case("cold `adgen compile` of Black-Scholes for both targets", 4.0, compile_both, forget),
        Case("warm: new process, from the cache, to the first gradient", 0.4, ("-c", WARM), nothing),
        Case("`import enzyme_driver`", 0.15, ("-c", "import enzyme_driver"), nothing),
    )


def measured(case: Case, environment: dict[str, str]) -> Result:
    """One run that is not counted (tools are identified, files are read into memory), then the others."""
    seconds = []
    for _ in range(RUNS + 1):
        case.before()
        start = time.perf_counter()
        argv = [sys.executable, *case.argv]
        subprocess.run(argv, env=environment, check=True, capture_output=True)  # noqa: S603  (adgen itself)
        seconds.append(time.perf_counter() - start)
    runs = tuple(round(run, 4) for run in seconds[1:])
    return Result(case.name, median(runs), case.at_most, runs)


def machine() -> dict[str, object]:
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return {
        "cpu": cpu.group(1) if cpu else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
    }


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder, "cache")
        environment = {**os.environ, "ADGEN_CACHE_DIR": str(cache)}
        results = [measured(case, environment) for case in cases(cache, Path(folder, "out"))]
    for result in results:
        print(f"{result.case}: {result.seconds:.3f} s (at most {result.at_most:g} s)")
    data = {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "machine": machine(),
        "results": [asdict(result) for result in results],
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    return int(any(result.seconds > result.at_most for result in results))


if __name__ == "__main__":
    sys.exit(main())
