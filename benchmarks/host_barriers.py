"""Kernels with barriers on the host: against C++ written by hand, gradient against primal, and the cost of a switch.

Each number of threads runs in a process of its own. Writes results/host_barriers.json beside itself.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np

import enzyme_driver as adgen
from enzyme_driver import processor
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import ensure

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parent / "cuda_kernels"
RESULTS = HERE / "results" / "host_barriers.json"
RUNS = 9
SECONDS = 0.05

PING = """
__global__ void ping(float *x, int rounds) {
    for (int r = 0; r < rounds; ++r) x[threadIdx.x] += __shfl_xor_sync(~0u, x[threadIdx.x], 1);
}
"""


@dataclass(frozen=True)
class Case:
    """A kernel of the collection with a launch and arguments; `by_hand` is its function in host_barriers.cpp."""

    kernel: str
    file: str
    size: str
    launch: tuple[object, ...]
    arguments: tuple[object, ...]

    def shadows(self) -> tuple[np.ndarray, ...]:
        return tuple(np.ones_like(a) for a in self.arguments if isinstance(a, np.ndarray))


@dataclass(frozen=True)
class Result:
    """Milliseconds (medians), and their ratios."""

    case: str
    size: str
    threads: int
    way: str
    by_hand_ms: float
    primal_ms: float
    gradient_ms: float
    primal_over_hand: float
    ratio: float
    device: str
    date: str


def cases() -> tuple[Case, ...]:
    rng = np.random.default_rng()
    n, bodies, count = 512, 4096, 2**21

    def floats(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    points = tuple(rng.standard_normal(bodies) for _ in range(4))
    matrices = (floats(n, n), floats(n, n), floats(n, n))
    return (
        Case("matmul", "matmul_tiled.cu", f"{n} x {n} x {n}", ((n // 16, n // 16), (16, 16)), (*matrices, n, n, n)),
        Case("potential", "nbody_tiles.cu", f"{bodies}", (bodies // 128, 128, None, 3 * 8 * 128), (*points, bodies)),
        Case("sum_of_squares", "block_sum.cu", f"{count}", (count // 128, 128), (floats(count), floats(1), count)),
    )


def milliseconds(call: Callable[[], object]) -> float:
    """The median of several runs, each long enough for the clock."""
    call()
    start = time.perf_counter()
    call()
    times = max(1, int(SECONDS / max(1e-9, time.perf_counter() - start)))
    runs = []
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in range(times):
            call()
        runs.append((time.perf_counter() - start) / times)
    return 1e3 * median(runs)


def by_hand(case: Case, library: Path) -> Callable[[], object]:
    function = ctypes.CDLL(str(library))[case.kernel]
    given = [
        a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else ctypes.c_int(a) for a in case.arguments
    ]  # type: ignore[call-overload]
    return lambda: function(*given)


def measured(case: Case, library: Path, way: str) -> Result:
    kernel = adgen.compile(KERNELS / case.file, kernel=case.kernel)
    shadows = dict(zip(kernel.signature.names, case.shadows(), strict=False))
    hand = milliseconds(by_hand(case, library))
    primal = milliseconds(lambda: kernel[case.launch](*case.arguments))
    gradient = milliseconds(lambda: kernel.gradient[case.launch](*case.arguments, shadows=shadows))
    threads = int(os.environ["OMP_NUM_THREADS"])
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    ratios = (round(primal / hand, 2), round(gradient / primal, 2))
    rounded = (round(hand, 4), round(primal, 4), round(gradient, 4))
    return Result(
        case.kernel, case.size, threads, way, *rounded, *ratios, platform.processor() or platform.machine(), today
    )


def switch_nanoseconds(folder: Path) -> float:
    """What a thread's wait for its warp costs."""
    source = folder / "ping.cu"
    source.write_text(PING, encoding="utf-8")
    kernel = adgen.compile(source, kernel="ping")
    x = np.ones(32, np.float32)
    return 1e6 * milliseconds(lambda: kernel[1, 32](x, 10_000)) / (32 * 10_000)


def compiled_by_hand(folder: Path) -> Path:
    settings = Settings.from_environment()
    clang = ensure(settings).clang.path
    library = folder / "by_hand.so"
    flags = ("-O3", f"-march={processor.baseline()}", "-fopenmp", "-shared", "-fPIC", "-x", "c++")
    subprocess.run([str(clang), *flags, str(HERE / "host_barriers.cpp"), "-o", str(library)], check=True)  # noqa: S603
    return library


def main() -> None:
    if len(sys.argv) > 1:  # in a process with its own number of threads
        library, way = Path(sys.argv[1]), sys.argv[2]
        found = [asdict(measured(case, library, way)) for case in cases()]
        if os.environ["OMP_NUM_THREADS"] == "1" and way == "stacks":
            found.append({"case": "switch", "nanoseconds": round(switch_nanoseconds(library.parent), 1)})
        sys.stdout.write(json.dumps(found))
        return
    results: list[object] = []
    with tempfile.TemporaryDirectory() as name:
        library = compiled_by_hand(Path(name))
        for threads in ("1", "2"):
            for way, disabled in (("loops", ""), ("stacks", "split-threads")):
                environment = os.environ | {"OMP_NUM_THREADS": threads, "ADGEN_DISABLE": disabled}
                command = [sys.executable, __file__, str(library), way]
                done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
                results += json.loads(done.stdout)
                sys.stdout.write(done.stdout + "\n")
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
