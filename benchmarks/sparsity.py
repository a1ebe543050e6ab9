"""Sparsity of the first operators of VGG-11, and the time of their CSR Jacobians against one basis vector at a time.

    python -m benchmarks.sparsity                       # the host: patterns found and Jacobians timed
    python -m benchmarks.sparsity --build FOLDER        # what a GPU needs: artifact and patterns
    python -m benchmarks.sparsity --built FOLDER        # a GPU, beside PyTorch

Patterns come from `k.sparsity`, which is told nothing of the operators. The way of one basis vector at a time is
measured for some of them, drawn at random, and its whole time is theirs times the number of rows: the result says of
how many.
Every sparse Jacobian is compared with those rows.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import shutil
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import enzyme_driver as adgen
from benchmarks.results_file import Row, merged
from benchmarks.scan_times import graph
from enzyme_driver import cache, request
from enzyme_driver.settings import Settings

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "sparse" / "vgg11.cu"
RESULTS = HERE / "results" / "sparsity.json"
SIDE, CHANNELS, FILTERS, BLOCK = 32, 3, 64, 256
SAMPLE = 200
"""Basis vectors that are measured."""

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Operator:
    """One operator on random numbers.

    `paper` is what Wang, Bai and Pekhimenko (2020) give: its sparsity, and how much faster they made the Jacobian than
    PyTorch.
    """

    kernel: str
    wrt: str
    args: tuple[Any, ...]
    outputs: int
    paper: tuple[float, float]

    @property
    def launch(self) -> tuple[int, int]:
        return -(-self.outputs // BLOCK), BLOCK


def operators(side: int = SIDE) -> list[Operator]:
    rng, kind, size = np.random.default_rng(0), np.float32, FILTERS * side * side
    image, weight, bias, hidden = (
        rng.normal(size=shape).astype(kind)
        for shape in ((CHANNELS, side, side), (FILTERS, CHANNELS, 3, 3), FILTERS, (FILTERS, side, side))
    )
    pooled = np.zeros((FILTERS, side // 2, side // 2), kind)
    y, sizes = np.zeros_like(hidden), (CHANNELS, FILTERS, side, side)
    return [
        Operator("convolution", "image", (image, weight, bias, y, *sizes), size, (0.99157, 8.3e3)),
        Operator("relu", "x", (hidden, y, size), size, (0.99998, 1.2e6)),
        Operator("max_pool", "x", (hidden, pooled, FILTERS, side, side), size // 4, (0.99994, 1.5e5)),
    ]


def seconds(action: Callable[[], object], repeats: int = 7, wait: Callable[[], object] = lambda: None) -> float:
    """The median of several, after one."""
    found = []
    for _ in range(repeats + 1):
        wait()
        began = time.perf_counter()
        action()
        wait()
        found.append(time.perf_counter() - began)
    return float(np.median(found[1:]))


def sparsity_of(pattern: Any) -> float:  # noqa: ANN401
    return 1.0 - int(pattern.nnz) / float(pattern.shape[0] * pattern.shape[1])


def basis(kernel: Any, operator: Operator, args: tuple[Any, ...], xp: Any) -> Callable[[int], Any]:  # noqa: ANN401
    """One row of the Jacobian, as adgen's gradient makes it."""
    like = args[kernel.signature.names.index("y")]

    def row(at: int) -> Any:  # noqa: ANN401
        unit = xp.zeros_like(like)
        unit.reshape(-1)[at] = 1
        return kernel.vjp[operator.launch](*args, cotangents={"y": unit}, wrt=operator.wrt)[operator.wrt]

    return row


def measured(
    kernel: Any,  # noqa: ANN401
    operator: Operator,
    args: tuple[Any, ...],
    pattern: Any,  # noqa: ANN401
    xp: Any,  # noqa: ANN401
    wait: Callable[[], object],
) -> tuple[Row, Any, Array]:
    """The times of the CSR Jacobian and of rows by adgen's gradient, the Jacobian, and which rows."""
    coloured = adgen.colour(pattern)
    rows = np.random.default_rng(1).permutation(operator.outputs)[:SAMPLE]

    def make() -> Any:  # noqa: ANN401
        return kernel.jacobian[operator.launch](*args, of="y", wrt=operator.wrt, pattern=coloured)

    found, row = make(), basis(kernel, operator, args, xp)
    host = (found.get() if xp is not np else found).tocsr()
    for at in rows[:20]:
        wanted = row(int(at)).reshape(-1)
        wanted = wanted.get() if xp is not np else wanted
        apart = np.abs(host[[int(at)]].toarray()[0] - wanted).max()
        if apart > 1e-5 * max(1.0, np.abs(wanted).max()):
            raise AssertionError(f"{operator.kernel}: row {at} is off by {apart}")
    one = seconds(lambda: [row(int(at)) for at in rows], 1, wait) / len(rows)
    forward = coloured.prefers_columns
    made: Row = {
        "operator": operator.kernel,
        "rows": pattern.shape[0],
        "columns": pattern.shape[1],
        "entries": int(pattern.nnz),
        "sparsity": sparsity_of(pattern),
        "paper_sparsity": operator.paper[0],
        "directions": coloured.column_colours if forward else coloured.row_colours,
        "mode": "forward" if forward else "reverse",
        "jacobian_ms": 1e3 * seconds(make, wait=wait),
        "adgen_basis_vector_ms": 1e3 * one,
        "basis_vectors_measured": len(rows),
        "paper_faster": operator.paper[1],
    }
    made["adgen_all_rows_ms"] = made["adgen_basis_vector_ms"] * made["rows"]
    made["faster_than_adgen_rows"] = made["adgen_all_rows_ms"] / made["jacobian_ms"]
    return made, host, rows


def on_host(operator: Operator) -> Row:
    kernel: Any = adgen.compile(SOURCE, modes=["forward"])[operator.kernel]
    kernel.sparsity[operator.launch](*operator.args, of="y", wrt=operator.wrt)  # compiles
    kernel.patterns.forget()
    began = time.perf_counter()
    pattern = kernel.sparsity[operator.launch](*operator.args, of="y", wrt=operator.wrt)
    taken = time.perf_counter() - began
    row, _, _ = measured(kernel, operator, operator.args, pattern, np, lambda: None)
    return {"part": "host", **row, "pattern_ms": 1e3 * taken, "device": f"{_processor()}, {os.cpu_count()} threads"}


def build(folder: Path) -> None:
    """The artifact, and patterns by the host's build of the same kernels."""
    import scipy.sparse

    folder.mkdir(parents=True, exist_ok=True)
    asked = request.new(SOURCE, targets=["cuda"], archs=["sm_90"], modes=["forward", "batched"])
    shutil.copytree(cache.build(asked, settings=Settings.from_environment()), folder / "vgg11", dirs_exist_ok=True)
    kernels = adgen.compile(SOURCE)
    for operator in operators():
        kernel: Any = kernels[operator.kernel]
        pattern = kernel.sparsity[operator.launch](*operator.args, of="y", wrt=operator.wrt)
        scipy.sparse.save_npz(folder / f"{operator.kernel}.npz", pattern)


def on_gpu(folder: Path, operator: Operator) -> Row:
    import cupy
    import scipy.sparse

    kernel = adgen.load(folder / "vgg11", "cuda")[operator.kernel]
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    args = tuple(cupy.asarray(each) if isinstance(each, np.ndarray) else each for each in operator.args)
    pattern = scipy.sparse.load_npz(folder / f"{operator.kernel}.npz").tocsr()
    row, made, rows = measured(kernel, operator, args, pattern, cupy, cupy.cuda.runtime.deviceSynchronize)
    coloured = adgen.colour(pattern)
    row["graph_ms"] = graph(lambda: kernel.jacobian[operator.launch](*args, of="y", wrt=operator.wrt, pattern=coloured))
    with suppress(ImportError):
        row |= beside_torch(operator, made, rows)
        row["faster_than_torch"] = row["torch_all_rows_ms"] / row["jacobian_ms"]
    return {"part": "gpu", **row, "device": device}


def beside_torch(operator: Operator, made: Any, rows: Array) -> Row:  # noqa: ANN401
    """PyTorch's way, a row of the Jacobian at a time, on the same numbers; `made` is compared with them."""
    import torch

    torch.backends.cudnn.allow_tf32 = False
    given = [torch.tensor(each, device="cuda") for each in operator.args if isinstance(each, np.ndarray)]
    x = given[0].requires_grad_()
    if operator.kernel == "convolution":
        y = torch.nn.functional.conv2d(x[None], given[1], given[2], padding=1)
    else:
        y = torch.relu(x) if operator.kernel == "relu" else torch.nn.functional.max_pool2d(x[None], 2)
    unit = torch.zeros_like(y)

    def row(at: int) -> Any:  # noqa: ANN401
        unit.view(-1)[at] = 1
        (found,) = torch.autograd.grad(y, x, unit, retain_graph=True)
        unit.view(-1)[at] = 0
        return found

    wanted = np.stack([row(int(at)).cpu().numpy().reshape(-1) for at in rows[:20]])
    one = seconds(lambda: [row(int(at)) for at in rows], 1, torch.cuda.synchronize) / len(rows)
    return {
        "torch_basis_vector_ms": 1e3 * one,
        "torch_all_rows_ms": 1e3 * one * operator.outputs,
        "against_torch": float(np.abs(made[rows[:20]].toarray() - wanted).max()),
        "torch": torch.__version__,
    }


def _processor() -> str:
    with suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return platform.processor() or platform.machine()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path)
    parser.add_argument("--built", type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args()
    if asked.build:
        build(asked.build)
        return 0
    said = {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "command": f"python -m benchmarks.sparsity{' --built FOLDER' if asked.built else ''}",
    }
    new: list[Row] = []
    measure = partial(on_gpu, asked.built) if asked.built else on_host
    for operator in operators():
        try:
            new.append(measure(operator) | said)
        except Exception:  # noqa: BLE001  (the others are measured all the same)
            traceback.print_exc()
            continue
        sys.stdout.write(json.dumps(new[-1]) + "\n")
        known = json.loads(asked.results.read_text(encoding="utf-8")) if asked.results.exists() else []
        asked.results.write_text(json.dumps(merged(known, new, "part", "operator"), indent=1) + "\n", encoding="utf-8")
    return 0 if len(new) == len(operators()) else 1


if __name__ == "__main__":
    sys.exit(main())
