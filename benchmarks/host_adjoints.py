"""Gradients of short functions beside adjoints that are written by hand, on one thread of the host.

    python -m benchmarks.host_adjoints --output benchmarks/results/host_adjoints.json [function ...]

The functions and their adjoints are in host/adjoints.cpp; clang compiles the latter with `-O3` for the processors that
adgen's libraries are for. `gradient` and `prepared` (by `prepare_gradient`) are called as users call them, the adjoint
by hand through ctypes. All add to the same arrays, and the results are compared. Microseconds, medians.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime as dt
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

import enzyme_driver as adgen
from benchmarks.openmp import device
from enzyme_driver import processor
from enzyme_driver.command import run
from enzyme_driver.runtime.function import Function
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import ensure, packages

SOURCE = Path(__file__).with_name("host") / "adjoints.cpp"
SECONDS = 0.4


@dataclass(frozen=True)
class Adjoint:
    """A function with arguments; `wrt` are the arrays that derivatives are taken by, in the order of the adjoint."""

    function: str
    size: str
    make: Callable[[Any], tuple[Any, ...]]
    wrt: tuple[str, ...]
    constant: tuple[str, ...] = ()


ADJOINTS = (
    Adjoint("log_sum_exp", "n 100", lambda rng: (rng.standard_normal(100), 100), ("x",)),
    Adjoint("log_sum_exp", "n 100,000", lambda rng: (rng.standard_normal(100_000), 100_000), ("x",)),
    Adjoint(
        "least_squares",
        "1,000 x 128",
        lambda rng: (rng.standard_normal((1000, 128)), rng.standard_normal(128), rng.standard_normal(1000), 1000, 128),
        ("x", "b"),
        ("matrix",),
    ),
    Adjoint(
        "nearest",
        "10,000 points, 10 centres, d 8",
        lambda rng: (rng.standard_normal((10_000, 8)), rng.standard_normal((10, 8)), 10_000, 10, 8),
        ("points", "centres"),
    ),
    Adjoint("determinant", "n 7", lambda rng: (rng.standard_normal((7, 7)), 7), ("matrix",)),
)


def by_hand(folder: Path) -> ctypes.CDLL:
    clang = ensure(Settings.from_environment()).clang
    target = folder / "adjoints.so"
    flags = ("-O3", f"-march={processor.baseline()}", "-DBY_HAND", "-std=c++17", "-shared", "-fPIC")
    found = (*packages.compile_flags(clang), *packages.link_flags(clang))
    compiler = clang.prefix / "bin" / "clang++"
    done = run([str(compiler), *flags, *found, str(SOURCE), "-o", str(target)], timeout=120)
    if not done.ok:
        raise RuntimeError(done.stderr)
    return ctypes.CDLL(str(target))


def median_us(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """In turn, so that all of them see the same machine."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    counts = {}
    for name, call in calls.items():
        start = time.perf_counter()
        call()
        call()
        counts[name] = max(1, int(0.005 / ((time.perf_counter() - start) / 2)))
    until = time.perf_counter() + SECONDS * len(calls)
    while time.perf_counter() < until or len(times[name]) < 5:  # noqa: PLR2004
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(counts[name]):
                call()
            times[name].append((time.perf_counter() - start) / counts[name] * 1e6)
    return {name: round(statistics.median(found), 2) for name, found in times.items()}


def measured(case: Adjoint, library: ctypes.CDLL) -> dict[str, Any]:
    function = adgen.compile(
        SOURCE, function=case.function, activity=dict.fromkeys(case.constant, "const"), verify="never"
    )
    if not isinstance(function, Function):
        raise TypeError(function)
    args = case.make(np.random.default_rng(1))
    names = function.signature.names
    shapes = {name: value.shape for name, value in zip(names, args, strict=True) if name in case.wrt}
    shadows = {name: np.zeros(shape) for name, shape in shapes.items()}
    own = {name: np.zeros(shape) for name, shape in shapes.items()}
    hand = getattr(library, f"by_hand_{case.function}")
    hand.restype = None
    values = [ctypes.c_void_p(v.ctypes.data) if isinstance(v, np.ndarray) else ctypes.c_int(v) for v in args]
    values += [ctypes.c_double(1.0), *[ctypes.c_void_p(own[name].ctypes.data) for name in case.wrt]]
    hand(*values)
    function.gradient(*args, shadows=shadows)
    for name in case.wrt:
        np.testing.assert_allclose(shadows[name], own[name], rtol=1e-9, atol=1e-12)
    times = median_us(
        {
            "primal": lambda: function(*args),
            "gradient": lambda: function.gradient(*args, shadows=shadows),
            "prepared": function.prepare_gradient(*args, shadows=shadows),
            "by hand": lambda: hand(*values),
        }
    )
    ratio = round(times["prepared"] / times["by hand"], 2)
    return {"function": case.function, "size": case.size, **times, "prepared / by hand": ratio}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--output", type=Path)
    parser.add_argument("functions", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, adgen.threads(1):
        library = by_hand(Path(folder))
        chosen = [case for case in ADJOINTS if not options.functions or case.function in options.functions]
        rows = [measured(case, library) for case in chosen]
    for row in rows:
        click.echo(json.dumps(row))
    said = {"command": "python -m benchmarks.host_adjoints", "unit": "microseconds a call, one thread"}
    said |= {"date": dt.datetime.now(tz=dt.UTC).date().isoformat(), "device": device()}
    if options.output:
        options.output.write_text(json.dumps({**said, "functions": rows}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
