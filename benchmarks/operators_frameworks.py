"""What a call of an operator costs beside the launch, in PyTorch and in JAX, on a GPU.

    python -m benchmarks.operators_frameworks --artifacts FOLDER/kernels --output operators_frameworks.json

FOLDER is what `python -m cuda_kernels.build_all FOLDER` makes. The kernel is `elementwise` of the collection on arrays
so small that the processor is what takes the time: calls are queued one after the other, and the time of all of them,
waiting at the end included, is divided by their number. Medians of several rounds, in microseconds. Beside it stands an
autograd function written by hand around PyTorch's own C++ operators with as many inputs and outputs.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from cuda_kernels.frameworks_check import subject
from cuda_kernels.suite import by_name

CASE = "elementwise-elementwise"
CALLS = 500
ROUNDS = 9


def per_call(call: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """Microseconds."""
    times = []
    for _ in range(ROUNDS + 2):
        wait()
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        wait()
        times.append((time.perf_counter() - start) / CALLS * 1e6)
    return round(statistics.median(times[2:]), 2)


def of_torch(artifacts: Path) -> dict[str, float]:
    import torch

    found = subject(by_name()[CASE], artifacts)
    operator = found.operator.torch
    x, w, y = (torch.tensor(value, device="cuda") for value in found.inputs.values())
    args = (x.requires_grad_(), w.requires_grad_(), y)
    wait = torch.cuda.synchronize

    class ByHand(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            ctx.save_for_backward(x, w)
            return torch.addcmul(x, x, w)

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            x, w = ctx.saved_tensors
            return torch.addcmul(cotangent, cotangent, w), cotangent * x

    def both_ways(call: Callable[..., Any], inputs: Any) -> dict[str, float]:
        made = call(*inputs)
        seed = torch.ones_like(made)

        def backward() -> None:
            torch.autograd.grad(made, inputs[:2], seed, retain_graph=True)

        return {"forward": per_call(lambda: call(*inputs), wait), "backward": per_call(backward, wait)}

    ours, op = both_ways(operator, args), both_ways(operator.op, args)
    hand = both_ways(ByHand.apply, args[:2])
    with torch.no_grad():
        calls = operator.calls
        bare = per_call(lambda: calls.primal(args, ()), wait)
        one = per_call(lambda: torch.addcmul(x, x, w), wait)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        operator(*args)
    return {
        "operator forward": ours["forward"],
        "operator backward": ours["backward"],
        "torch.ops forward": op["forward"],
        "torch.ops backward": op["backward"],
        "by hand forward": hand["forward"],
        "by hand backward": hand["backward"],
        "without autograd": bare,
        "PyTorch's addcmul without autograd": one,
        "replay of a CUDA graph with it": per_call(graph.replay, wait),
    }


def of_jax(artifacts: Path) -> dict[str, float]:
    import jax

    found = subject(by_name()[CASE], artifacts)
    operator = found.operator.jax
    x, w, _ = (jax.numpy.asarray(value) for value in found.inputs.values())
    count = 1000

    def repeated(body: Callable[[Any], Any]) -> float:
        loop = jax.jit(lambda start: jax.lax.fori_loop(0, count, lambda _, state: body(state), start))
        times = []
        for _ in range(ROUNDS + 2):
            start = time.perf_counter()
            loop(x).block_until_ready()
            times.append((time.perf_counter() - start) / count * 1e6)
        return round(statistics.median(times[2:]), 2)

    def plain(x: Any) -> Any:
        return jax.numpy.sin(x) * w + jax.numpy.exp(-x * x)

    def gradient(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return jax.grad(lambda x: function(x).sum())

    return {
        "operator in a loop of jit": repeated(lambda x: operator(x, w, x)),
        "its gradient in a loop of jit": repeated(gradient(lambda x: operator(x, w, x))),
        "XLA's own code in a loop of jit": repeated(plain),
        "its own gradient in a loop of jit": repeated(gradient(plain)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--artifacts", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    import torch

    report: dict[str, Any] = {
        "command": "python -m benchmarks.operators_frameworks --artifacts FOLDER/kernels",
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "device": torch.cuda.get_device_name(),
        "elements": int(np.prod(np.shape(next(iter(subject(by_name()[CASE], options.artifacts).inputs.values()))))),
        "unit": "microseconds a call",
        "torch": of_torch(options.artifacts),
    }
    click.echo(json.dumps(report, indent=1))
    report["jax"] = of_jax(options.artifacts)
    text = json.dumps(report, indent=1)
    click.echo(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
