"""Times of the tensor operators and of their compiled gradients: by device, by size and, on a GPU, by threads a block.

    python -m benchmarks.operators OUTPUT.json [--device cpu --device openmp --device cuda] [--built FOLDER]

Writes a list of objects: operator, device, model, shape, dtype, threads (of a block on a GPU, of OpenMP on the host),
forward_ms, backward_ms, torch_forward_ms, torch_backward_ms (where PyTorch is installed), floor_ms, backward_floor_ms,
date. Times are medians after a warm-up, with the device synchronised; on a GPU without what Python needs for a launch.
A floor is the time of moving the operator's arrays once at the bandwidth of a copy that is measured beside; for a
matrix product it is the time of the array library's own (BLAS, cuBLAS). `--built` loads kernels that
`python -m benchmarks.build_operators FOLDER` made, on a machine without compilers. What would take longer than
--longest seconds a call, judged by the size before, is not run: its times are null, and `left_out` says so.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

from enzyme_driver import tensor as ad
from enzyme_driver.tensor import operators
from enzyme_driver.tensor.application import Application, apply
from enzyme_driver.tensor.launches import Launch
from enzyme_driver.tensor.operators import Operator
from enzyme_driver.tensor.rules import MATMUL_BY_RULE

EDGES = tuple(2**power for power in range(5, 13))
SWEPT_EDGE = 1024
"""Of the matrices on which threads a block are varied."""
SECONDS, FEWEST, LONG = 0.2, 2, 5.0
"""Seconds for the calls of a figure on the host, how many there are at least, and seconds of one that is enough."""
BLAS_SPINS = 0.2
"""Seconds after which the threads of NumPy's matrix product no longer spin on the cores that are measured."""
GROWTH = {"matmul": 8.0}
Array = Any


@dataclass(frozen=True)
class Subject:
    """An operator under the name of a row, and what PyTorch calls it."""

    name: str
    operator: Operator
    torch: Callable[..., Any]


def subjects(edge: int) -> list[Subject]:
    """All operators, on square matrices with that edge."""
    spread = operators.broadcast(edge, 0), operators.broadcast(edge, 1)
    return [
        Subject("add", operators.ADD, lambda a, b: a + b),
        Subject("subtract", operators.SUBTRACT, lambda a, b: a - b),
        Subject("multiply", operators.MULTIPLY, lambda a, b: a * b),
        Subject("divide", operators.DIVIDE, lambda a, b: a / b),
        Subject("power", operators.POWER, lambda a, b: a**b),
        Subject("copy", operators.COPY, lambda a: a.clone()),
        Subject("negate", operators.NEGATE, lambda a: -a),
        Subject("exp", operators.EXP, lambda a: a.exp()),
        Subject("log", operators.LOG, lambda a: a.log()),
        Subject("relu", operators.RELU, lambda a: a.relu()),
        Subject("sum, axis 0", operators.SUM[0], lambda a: a.sum(0, keepdim=True)),
        Subject("sum, axis 1", operators.SUM[1], lambda a: a.sum(1, keepdim=True)),
        Subject("max, axis 0", operators.MAX[0], lambda a: a.max(0, keepdim=True).values),
        Subject("max, axis 1", operators.MAX[1], lambda a: a.max(1, keepdim=True).values),
        Subject("broadcast, axis 0", spread[0], lambda a: a.expand(edge, edge).clone()),
        Subject("broadcast, axis 1", spread[1], lambda a: a.expand(edge, edge).clone()),
        Subject("transpose", operators.TRANSPOSE, lambda a: a.t().contiguous()),
        Subject("matmul", operators.MATMUL, lambda a, b: a @ b),
        Subject("matmul by rule", MATMUL_BY_RULE, lambda a, b: a @ b),
    ]


@dataclass(frozen=True)
class Times:
    """Milliseconds."""

    forward: float
    backward: float


def timed(run: Callable[[], object], device: ad.Device, seconds: float = SECONDS) -> float:
    """The median milliseconds of a call that the device has finished; on a GPU those of its work alone.

    A call of more than LONG seconds is not repeated.
    """
    if device.name == "cuda":
        from benchmarks.measure import median_ms  # which needs a GPU

        return median_ms({"run": run})["run"].device

    def once() -> float:
        started = time.perf_counter()
        run()
        device.synchronize()
        return time.perf_counter() - started

    first = once()
    if first > LONG:
        return 1e3 * first
    times: list[float] = []
    ends = time.perf_counter() + seconds
    while len(times) < FEWEST or time.perf_counter() < ends:
        times.append(once())
    return 1e3 * median(times)


def inputs(subject: Subject, edge: int, device: ad.Device) -> tuple[Array, ...]:
    """Numbers between 0.5 and 1.5; what is broadcast has one row or column."""
    rng = np.random.default_rng(edge)
    shape = {"broadcast, axis 0": (1, edge), "broadcast, axis 1": (edge, 1)}.get(subject.name, (edge, edge))
    return tuple(device.from_host(rng.uniform(0.5, 1.5, shape), np.float32) for _ in subject.operator.inputs)


def ours(
    subject: Subject, arrays: tuple[Array, ...], device: ad.Device, seconds: float, launch: Launch | None = None
) -> tuple[Times, Application]:
    applied = apply(subject.operator, device, arrays, launch)
    shadows = [device.arrays.zeros_like(array) for array in arrays]
    cotangent = device.arrays.ones_like(applied.out)
    forward = timed(lambda: apply(subject.operator, device, arrays, applied.launch), device, seconds)

    handed = applied.handed_on([True] * len(arrays))
    targets = [None if passed else shadow for passed, shadow in zip(handed, shadows, strict=True)]

    def backward() -> None:
        if not all(handed):
            applied.backward(cotangent, targets)

    return Times(forward, timed(backward, device, seconds)), applied


def pytorchs(subject: Subject, arrays: tuple[Array, ...], device: ad.Device, seconds: float) -> Times:
    """The same in PyTorch's eager mode, with its gradient by all inputs."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    if device.name != "cuda":
        torch.set_num_threads(1 if device.name == "cpu" else os.cpu_count() or 1)
    where = "cuda" if device.name == "cuda" else "cpu"
    given = [torch.tensor(device.to_host(array), device=where, requires_grad=True) for array in arrays]
    result = subject.torch(*given)
    weights = torch.ones_like(result)
    forward = timed(lambda: subject.torch(*given), device, seconds)

    def backward() -> object:
        return torch.autograd.grad(result, given, weights, retain_graph=True)

    return Times(forward, timed(backward, device, seconds))


def floors(subject: Subject, applied: Application, device: ad.Device, bandwidth: float, seconds: float) -> Times:
    """Forward: inputs read, the result written. Backward: its cotangent read, shadows written, and what is needed read.

    Inputs of LINEAR operators are not needed, nor what shadows of an application that `writes_shadows` held. Those to
    which the cotangent is handed on are not written.
    """
    arrays = applied.inputs
    if subject.operator.file == "matmul.cu":
        product = timed(lambda: arrays[0] @ arrays[1], device, seconds)
        time.sleep(BLAS_SPINS)
        return Times(product, 2 * product)
    once = sum(array.nbytes for array in arrays)
    handed = applied.handed_on([True] * len(arrays))
    needed = 0 if subject.name in LINEAR else once
    shadows = sum(array.nbytes for array, passed in zip(arrays, handed, strict=True) if not passed)
    result = applied.out.nbytes
    moved = 0 if all(handed) else result + (1 if applied.writes_shadows else 2) * shadows + needed
    return Times((once + result) / bandwidth, moved / bandwidth)


LINEAR = {
    *("add", "subtract", "copy", "negate", "transpose"),
    *("sum, axis 0", "sum, axis 1", "broadcast, axis 0", "broadcast, axis 1"),
}
"""Whose derivatives do not depend on the inputs."""


def copy_bandwidth(device: ad.Device) -> float:
    """Bytes a millisecond, read and written, of the array library's copy of 64 MiB."""
    source = device.arrays.ones((4096, 4096), np.float32)
    target = device.arrays.empty_like(source)
    with device.running():
        return float(2 * source.nbytes / timed(lambda: device.arrays.copyto(target, source), device))


def rows(
    device: ad.Device, edges: tuple[int, ...], names: list[str], longest: float, seconds: float
) -> Iterator[dict[str, object]]:
    bandwidth = copy_bandwidth(device)
    taken: dict[str, float] = {}
    for edge in edges:
        for subject in subjects(edge):
            if names and subject.name not in names:
                continue
            growth = GROWTH.get(subject.operator.name, 4.0)
            expected = growth * taken.get(subject.name, 0.0)
            if expected > 1e3 * longest:
                taken[subject.name] = expected
                yield _left_out(subject, device, edge, expected)
                continue
            arrays = inputs(subject, edge, device)
            times, applied = ours(subject, arrays, device, seconds)
            taken[subject.name] = max(times.forward, times.backward)
            floor = floors(subject, applied, device, bandwidth, seconds)
            yield _row(subject, device, edge, applied.launch, times, floor)
            if device.name == "cuda" and edge == SWEPT_EDGE:
                for launch in subject.operator.choices(True, applied.extents):
                    swept, _ = ours(subject, arrays, device, seconds, launch)
                    yield _row(subject, device, edge, launch, swept, floor)


def add_pytorchs(found: list[dict[str, Any]], device: ad.Device, seconds: float) -> None:
    """Write PyTorch's times, where it is installed, into a device's first row of each operator and size.

    It comes last: threads of PyTorch that wait for work take the cores from whoever else is measured meanwhile.
    """
    if importlib.util.find_spec("torch") is None:
        return
    done: set[tuple[str, int]] = set()
    for row in found:
        name, edge = row["operator"], row["shape"][0]
        if row["device"] != device.name or row["forward_ms"] is None or (name, edge) in done:
            continue
        done.add((name, edge))
        subject = next(item for item in subjects(edge) if item.name == name)
        beside = pytorchs(subject, inputs(subject, edge, device), device, seconds)
        row |= {"torch_forward_ms": beside.forward, "torch_backward_ms": beside.backward}


def _about(subject: Subject, device: ad.Device, edge: int) -> dict[str, object]:
    return {
        "operator": subject.name,
        "device": device.name,
        "model": device.model,
        "shape": [edge, edge],
        "dtype": "float32",
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
    }


def _left_out(subject: Subject, device: ad.Device, edge: int, expected: float) -> dict[str, object]:
    reason = f"a call would take about {1e-3 * expected:.0f} s, judged by the size before"
    return {**_about(subject, device, edge), "forward_ms": None, "backward_ms": None, "left_out": reason}


def _row(
    subject: Subject, device: ad.Device, edge: int, launch: Launch, times: Times, floor: Times
) -> dict[str, object]:
    host_threads = 1 if device.name == "cpu" else os.cpu_count()
    row = {
        **_about(subject, device, edge),
        "threads": launch.threads if device.name == "cuda" else host_threads,
        "kernel": launch.kernel,
        "forward_ms": times.forward,
        "backward_ms": times.backward,
        "torch_forward_ms": None,
        "torch_backward_ms": None,
        "floor_ms": floor.forward,
        "backward_floor_ms": floor.backward,
    }
    click.echo(f"{subject.name:18} {device.name:7} {edge:5} {times.forward:10.3f} {times.backward:10.3f}", err=True)
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("output", type=Path)
    parser.add_argument("--device", action="append", choices=("cpu", "openmp", "cuda"))
    parser.add_argument("--edge", action="append", type=int)
    parser.add_argument("--operator", action="append", default=[])
    parser.add_argument("--built", type=Path)
    parser.add_argument("--longest", type=float, default=2.0)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    ad.use_built(options.built)
    found: list[dict[str, Any]] = []
    devices = [ad.Device(name) for name in options.device or ["cpu", "openmp"]]
    for device in devices:
        for row in rows(device, tuple(options.edge or EDGES), options.operator, options.longest, options.seconds):
            found.append(row)
            _save(found, options.output)  # a run that is cut off leaves what it has
    for device in devices:
        add_pytorchs(found, device, options.seconds)
    _save(found, options.output)
    return 0


def _save(found: list[dict[str, Any]], output: Path) -> None:
    output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
