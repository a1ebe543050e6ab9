"""Gradient and primal against the number of threads, and against the work of a thread, on a GPU.

    python -m benchmarks.scaling FOLDER --output benchmarks/results/scaling.json

FOLDER is one that `python -m cuda_kernels.build_all FOLDER` made. A point that fails is reported, and left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from benchmarks.case import Args, Case, Floor, uniform
from benchmarks.measure import Figure, measure

NOTHING = Floor(bytes=0.0)
THREADS = tuple(1 << power for power in range(10, 27, 2))
STEPS = (1, 3, 10, 30, 100, 300, 1000)
INNER = tuple(1 << power for power in range(5, 13))


@dataclass(frozen=True)
class Point:
    """`axis` is "threads" or "work" (of a thread: its loop's iterations); `value` where on it."""

    axis: str
    value: int
    case: Case


def _recurrence(threads: int, steps: int) -> Case:
    def args() -> Args:
        return {**{name: uniform(threads) for name in ("x0", "rate", "out")}, "n": threads, "steps": steps}

    size = f"{threads} threads, {steps} steps, float"
    return Case("recurrence", "recurrence-logistic_float", size, args, threads // 256, 256, 3.5, NOTHING)


def _elementwise(threads: int) -> Case:
    def args() -> Args:
        return {**{name: uniform(threads) for name in "xwy"}, "n": threads}

    return Case("elementwise", "elementwise-elementwise", f"{threads} float", args, threads // 256, 256, 2.0, NOTHING)


def _matmul(inner: int) -> Case:
    side = 1024

    def args() -> Args:
        shapes = {"A": (side, inner), "B": (inner, side), "C": (side, side)}
        return {**{name: uniform(*shape) for name, shape in shapes.items()}, "m": side, "n": side, "k": inner}

    size = f"{side} x {inner} x {side} float"
    return Case("tiled matmul", "matmul_tiled-matmul", size, args, (side // 16, side // 16), (16, 16), 5.0, NOTHING)


def points() -> Iterator[Point]:
    for threads in THREADS:
        yield Point("threads", threads, _elementwise(threads))
        yield Point("threads", threads, replace(_recurrence(threads, 100), name="recurrence, 100 steps"))
    for steps in STEPS:
        yield Point("work", steps, replace(_recurrence(1 << 18, steps), name="recurrence, 2^18 threads"))
    for inner in INNER:
        yield Point("work", inner, replace(_matmul(inner), name="tiled matmul, 1024^2 threads"))


def as_data(point: Point, figure: Figure) -> dict[str, Any]:
    kept = ("case", "size", "primal_ms", "gradient_ms", "ratio", "device", "date")
    found = asdict(figure)
    return {"axis": point.axis, "value": point.value, **{name: found[name] for name in kept}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    found, failed = [], 0
    for point in points():
        try:
            figure = measure(point.case, options.folder, 1.0)
        except Exception as error:  # noqa: BLE001, the other points are to be measured as well
            failed += 1
            click.echo(f"{point.case.label}: FAILED, {type(error).__name__}: {error}", err=True)
            continue
        found.append(as_data(point, figure))
        times = f"primal {figure.primal_ms:.4f} ms, gradient {figure.gradient_ms:.4f} ms"
        click.echo(f"{point.axis:8} {point.value:10} {figure.case:30} {times}, ratio {figure.ratio:.2f}")
        options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
