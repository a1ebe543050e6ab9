"""The heat equation on several devices: each has rows of the plate, and neighbours exchange those at their edges.

    python distributed/run.py                   # four processes over gloo, then four devices of XLA, on the host
    python distributed/run.py --device cuda     # one process a GPU over NCCL, then all GPUs of JAX
    python distributed/run.py --device cuda --measure devices.json      # how PyTorch's time scales with the GPUs

The kernel is that of heat2d/heat2d.cu, as an operator of PyTorch and of JAX; the exchange is PyTorch's send and receive
and JAX's ppermute. The gradient of a misfit by the state at the beginning is compared with that on a single device.
What is not installed is left out; the script fails where gradients differ.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import enzyme_driver as adgen

HERE = Path(__file__).resolve().parent
SIZE, STEPS, PARTS = 64, 12, 4
MEASURED_SIZE, ROUNDS = 8192, 7
RATIO, BETA = 0.1, 0.5
LARGEST_DIFFERENCE = 1e-12
FILE = Path(os.environ.get("HEAT2D", HERE.parent / "heat2d" / "heat2d.cu"))


@adgen.operator(FILE, kernel="step")
def heat_step(launch: Any, u: Any) -> Any:
    rows, cols = u.shape
    after = launch.empty_like(u)
    grid = (adgen.cdiv(cols, 16), adgen.cdiv(rows, 16))
    return launch(grid=grid, block=(16, 16), args=(u, after, cols, rows, RATIO, BETA), outputs=after)


def plate(rows: int = SIZE, cols: int = SIZE) -> tuple[Any, Any]:
    """The state at the beginning, and what the last one is compared with."""
    rng = np.random.default_rng(0)
    return rng.random((rows, cols)), rng.random((rows, cols))


def differs(found: Any, wanted: Any, what: str) -> bool:
    error = float(np.abs(found - wanted).max() / np.abs(wanted).max())
    print(f"{what}: the gradient differs from that on one device by {error:.1e}")
    return not error <= LARGEST_DIFFERENCE


# PyTorch


def torch_gradient(start: Any, target: Any, widen: Callable[[Any], Any], inner: Callable[[Any], Any]) -> Any:
    """By the rows of this process; `widen` puts the neighbours' rows around them, `inner` takes these off again."""
    state = start.clone().requires_grad_()
    first = state
    for _ in range(STEPS):
        state = inner(heat_step.torch(widen(state)))
    ((state - target) ** 2).sum().mul(0.5).backward()
    return first.grad


def exchanged(up: Any, down: Any, rank: int, size: int) -> tuple[Any, Any]:
    """Send a row to each neighbour; what they send: from above, from below (zeros where there is none)."""
    import torch
    from torch import distributed

    above, below = torch.zeros_like(up), torch.zeros_like(down)
    moves = []
    for there, row, room in ((rank - 1, up, above), (rank + 1, down, below)):
        if 0 <= there < size:
            moves += [distributed.P2POp(distributed.isend, row.contiguous(), there)]
            moves += [distributed.P2POp(distributed.irecv, room, there)]
    for request in distributed.batch_isend_irecv(moves) if moves else ():
        request.wait()
    return above, below


def joined(rank: int, size: int, device: str, folder: str) -> Any:
    """Meet the other processes; the device of this one."""
    import torch
    from torch import distributed

    where = torch.device(device, rank) if device == "cuda" else torch.device("cpu")
    if device == "cuda":
        torch.cuda.set_device(where)
    backend = "nccl" if device == "cuda" else "gloo"
    distributed.init_process_group(backend, init_method=f"file://{folder}/meeting", rank=rank, world_size=size)
    return where


def halos(rank: int, size: int) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Put the neighbours' rows around the own ones (differentiable), and take them off again."""
    import torch

    top, bottom = rank > 0, rank < size - 1

    class Widen(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, own: Any) -> Any:
            above, below = exchanged(own[:1], own[-1:], rank, size)
            return torch.cat([*([above] if top else []), own, *([below] if bottom else [])])

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            none = torch.zeros_like(cotangent[:1])
            above, below = exchanged(cotangent[:1] if top else none, cotangent[-1:] if bottom else none, rank, size)
            own = inner(cotangent).clone()
            own[:1] += above
            own[-1:] += below
            return own

    def inner(wide: Any) -> Any:
        return wide[int(top) : wide.shape[0] - int(bottom)]

    return Widen.apply, inner


def torch_process(rank: int, size: int, device: str, folder: str) -> None:
    import torch
    from torch import distributed

    where = joined(rank, size, device, folder)
    rows = slice(rank * SIZE // size, (rank + 1) * SIZE // size)
    start, target = (torch.tensor(array[rows], device=where) for array in plate())
    gradient = torch_gradient(start, target, *halos(rank, size))
    np.save(f"{folder}/{rank}.npy", gradient.cpu().numpy())
    distributed.destroy_process_group()


def timed_process(rank: int, size: int, device: str, folder: str, rows: int) -> None:
    """Seconds of a gradient with this many rows in each process, the median of several, as `folder`/seconds.json."""
    import torch
    from torch import distributed

    where = joined(rank, size, device, folder)
    start, target = (torch.rand(rows, MEASURED_SIZE, device=where, dtype=torch.float64) for _ in range(2))
    widen, inner = halos(rank, size)
    seconds = []
    for _ in range(ROUNDS + 2):
        torch.cuda.synchronize(where)
        distributed.barrier()
        begin = time.perf_counter()
        torch_gradient(start, target, widen, inner)
        torch.cuda.synchronize(where)
        distributed.barrier()
        seconds.append(time.perf_counter() - begin)
    if rank == 0:
        Path(folder, "seconds.json").write_text(json.dumps(statistics.median(seconds[2:])), encoding="utf-8")
    distributed.destroy_process_group()


def seconds_of_a_gradient(size: int, rows: int) -> float:
    import torch

    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(timed_process, (size, "cuda", folder, rows), nprocs=size)
        return float(json.loads(Path(folder, "seconds.json").read_text(encoding="utf-8")))


def measure(file: Path) -> None:
    """How the time scales with the GPUs: the same plate on more of them (strong), as many rows on each (weak)."""
    import torch

    alone, rows = seconds_of_a_gradient(1, MEASURED_SIZE), []
    for size in (count for count in (2, 4, 8) if count <= torch.cuda.device_count()):
        strong = seconds_of_a_gradient(size, MEASURED_SIZE // size)
        weak = seconds_of_a_gradient(size, MEASURED_SIZE)
        rows.append(
            {
                "devices": size,
                "strong_seconds": strong,
                "strong_efficiency": alone / (size * strong),
                "weak_seconds": weak,
                "weak_efficiency": alone / weak,
            }
        )
    found = {
        "device": torch.cuda.get_device_name(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "command": f"python examples/distributed/run.py --device cuda --measure {file.name}",
        "versions": {"torch": torch.__version__},
        "plate": [MEASURED_SIZE, MEASURED_SIZE],
        "dtype": "float64",
        "steps": STEPS,
        "seconds_on_one": alone,
        "rows": rows,
    }
    file.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(found))


def with_torch(device: str) -> bool:
    import torch

    size = torch.cuda.device_count() if device == "cuda" else PARTS
    start, target = (torch.tensor(array, device=device) for array in plate())
    alone = torch_gradient(start, target, lambda state: state, lambda state: state).cpu().numpy()
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(torch_process, (size, device, folder), nprocs=size)
        found = np.concatenate([np.load(f"{folder}/{rank}.npy") for rank in range(size)])
    failed = False
    if device == "cuda" and size > 1:  # the current device stays the first one
        start, target = start.to("cuda:1"), target.to("cuda:1")
        elsewhere = torch_gradient(start, target, lambda state: state, lambda state: state).cpu().numpy()
        failed = differs(elsewhere, alone, "PyTorch, one process, a device that is not the current one")
    return failed | differs(found, alone, f"PyTorch, {size} processes over {'NCCL' if device == 'cuda' else 'gloo'}")


# JAX


def with_jax() -> bool:
    import jax
    from jax.sharding import AxisType, PartitionSpec

    jax.config.update("jax_enable_x64", True)
    size = len(jax.devices())
    start, target = plate()
    mesh = jax.make_mesh((size,), ("rows",), axis_types=(AxisType.Auto,))

    def step(own: Any) -> Any:
        place = jax.lax.axis_index("rows")
        below = jax.lax.ppermute(own[:1], "rows", [(i + 1, i) for i in range(size - 1)])
        above = jax.lax.ppermute(own[-1:], "rows", [(i, i + 1) for i in range(size - 1)])
        after = heat_step.jax(jax.numpy.concatenate([above, own, below]))[1:-1]
        row = jax.numpy.arange(own.shape[0])[:, None] + place * own.shape[0]
        return jax.numpy.where((row == 0) | (row == SIZE - 1), own, after)  # the plate's edges are kept

    along = PartitionSpec("rows")
    parts = jax.shard_map(step, mesh=mesh, in_specs=along, out_specs=along)

    def gradient(one_step: Callable[[Any], Any]) -> Any:
        def misfit(state: Any) -> Any:
            last, _ = jax.lax.scan(lambda now, _: (one_step(now), None), state, None, length=STEPS)
            return 0.5 * ((last - target) ** 2).sum()

        return np.asarray(jax.jit(jax.grad(misfit))(start))

    return differs(gradient(parts), gradient(heat_step.jax), f"JAX, {size} devices")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--only", choices=["torch", "jax"])
    parser.add_argument("--measure", type=Path, help="write how PyTorch's time scales with the GPUs to this file")
    options = parser.parse_args()
    if options.measure:
        if options.device != "cuda":
            parser.error("--measure needs --device cuda")
        measure(options.measure)
        return 0
    if options.only == "torch":
        return int(with_torch(options.device))
    if options.only == "jax":
        return int(with_jax())
    failed = 0
    for library in ("torch", "jax"):
        if importlib.util.find_spec(library) is None:
            print(f"{library} is not installed: left out")
            continue
        devices = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={PARTS}", "JAX_PLATFORMS": "cpu"}
        command = [sys.executable, __file__, "--device", options.device, "--only", library]
        environment = {**os.environ, **(devices if options.device == "cpu" else {})}
        failed |= subprocess.run(command, check=False, env=environment).returncode  # noqa: S603  (this script)
    return failed


if __name__ == "__main__":
    sys.exit(main())
