"""What a call from Python costs beside what it calls, in microseconds.

    python -m benchmarks.calls --output benchmarks/results/calls.json [--artifact FOLDER --target cuda]

The kernel of calls.cu has six arrays, of so few elements that its work does not count. `bare` is the compiled gradient
called through ctypes (on a GPU: through cuda-core's binding of cuLaunchKernel) with arguments that were packed before.
The least of several short rounds: what other processes take of a machine is not the call's. On a GPU calls are queued,
and the wait at the end counts. Without `--artifact` the kernel is compiled for the host.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

import enzyme_driver as adgen
from enzyme_driver.runtime.call.packing import ArgumentTable
from enzyme_driver.runtime.kernel import Kernel

SOURCE = Path(__file__).with_name("calls.cu")
COUNT, NAMES = 32, ("a", "b", "c", "d", "e", "y")
WHERE = (1, COUNT)


def per_call(call: Callable[[], Any], wait: Callable[[], Any], *, calls: int = 200, rounds: int = 45) -> float:
    """Microseconds."""
    times = []
    for _ in range(rounds + 2):
        wait()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        wait()
        times.append((time.perf_counter() - start) / calls * 1e6)
    return round(min(times[2:]), 2)


def bare_call(
    kernel: Kernel, where: tuple[int, int], args: tuple[Any, ...], shadows: dict[str, Any]
) -> Callable[[], object]:
    """The gradient without anything around it; `where` is how many blocks of how many threads."""
    prepared = kernel.gradient[where].prepare(*args, shadows=shadows)
    prepared()
    backend, entry, given = kernel._backend, prepared._entry, prepared._prepared  # noqa: SLF001
    table = ArgumentTable(given.values)
    blocks, threads = where
    if kernel.target == "cuda":
        from enzyme_driver.runtime.backends.driver import api

        handle = backend._code(0).kernel(entry.gradient, threads).handle  # noqa: SLF001
        launch = api().cuLaunchKernel
        return lambda: (launch(handle, blocks, 1, 1, threads, 1, 1, 0, 0, table.address, 0), table)
    import ctypes

    from enzyme_driver.runtime.call.geometry import DescribedLaunch

    described = DescribedLaunch((blocks, 1, 1), (threads, 1, 1), 0)
    function, address = backend._function(entry.gradient), ctypes.addressof(described)  # noqa: SLF001
    return lambda: (function(address, table.address, None), described)


def measured(kernel: Kernel, make: Callable[[Any], Any], wait: Callable[[], Any]) -> dict[str, float]:
    rng = np.random.default_rng(1)
    arrays = {name: make(rng.standard_normal(COUNT).astype(np.float32)) for name in NAMES}
    shadows = {name: make(np.ones(COUNT, np.float32)) for name in NAMES}
    args, seeds = (COUNT, *arrays.values()), {"y": shadows["y"]}
    prepared = kernel.gradient[WHERE].prepare(*args, shadows=shadows)
    primal = kernel[WHERE].prepare(*args)
    calls: dict[str, Callable[[], object]] = {
        "bare gradient": bare_call(kernel, WHERE, args, shadows),
        "prepared primal": primal,
        "prepared gradient": prepared,
        "primal": lambda: kernel[WHERE](*args),
        "gradient": lambda: kernel.gradient[WHERE](*args, shadows=shadows),
        "vjp": lambda: kernel.vjp[WHERE](*args, cotangents=seeds),
        "vjp by one input": lambda: kernel.vjp[WHERE](*args, cotangents=seeds, wrt="a"),
    }
    return {name: per_call(call, wait) for name, call in calls.items()}


def libraries(target: str) -> dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]]:
    if target == "openmp":
        return {"numpy": (np.array, lambda: None)}
    import cupy
    import torch

    return {
        "cupy": (cupy.asarray, lambda: cupy.cuda.Device().synchronize()),
        "torch": (lambda array: torch.from_numpy(array).cuda(), torch.cuda.synchronize),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--artifact", type=Path)
    parser.add_argument("--target", choices=("openmp", "cuda"), default="openmp")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if options.artifact:
        kernel = adgen.load(options.artifact, target=options.target)["six"]
    else:
        kernel = adgen.compile(SOURCE, target=options.target, verify="never")["six"]
    found = {name: measured(kernel, *made) for name, made in libraries(options.target).items()}
    device = platform.machine()
    if options.target == "cuda":
        import torch

        device = torch.cuda.get_device_name()
    options_said = f" --artifact FOLDER --target {options.target}" if options.artifact else ""
    said = {"command": f"python -m benchmarks.calls{options_said}", "unit": "microseconds a call"}
    said |= {"date": dt.datetime.now(tz=dt.UTC).date().isoformat()}
    text = json.dumps({**said, "target": options.target, "device": device, "calls": found}, indent=1)
    click.echo(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
