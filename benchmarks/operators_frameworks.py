"""What a call of an operator costs beside the launch, in PyTorch and in JAX, on a GPU.

    python -m benchmarks.operators_frameworks --artifacts FOLDER/kernels --output operators_frameworks.json

FOLDER is what `python -m cuda_kernels.build_all FOLDER` makes. The kernel is `elementwise` of the collection on arrays
so small that the processor is what takes the time: calls are queued one after the other, and the time of all of them,
waiting at the end included, is divided by their number. Medians of several rounds, in microseconds. Beside it stand an
autograd function written by hand around PyTorch's own C++ operators with as many inputs and outputs, and launches of
the compiled gradient alone, through cuda-core's binding of cuLaunchKernel with arguments that were packed before.
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

import enzyme_driver as adgen
from benchmarks.calls import bare_call
from enzyme_driver.frameworks import Array, Launch, Operator

CASE = "elementwise-elementwise"
COUNT, BLOCK = 200, 128
CALLS, BODIES = 500, 20
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


def operator(artifacts: Path) -> Operator:
    @adgen.operator((artifacts / CASE).resolve())
    def elementwise(launch: Launch, x: Array, w: Array) -> Any:
        y = launch.empty_like(x)
        return launch(grid=adgen.cdiv(x.size, BLOCK), block=BLOCK, args=(x, w, y, x.size), outputs=y)

    return elementwise


def inputs() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    return rng.standard_normal(COUNT).astype(np.float32), rng.standard_normal(COUNT).astype(np.float32)


def bare(artifacts: Path, x: Any, w: Any) -> Callable[[], object]:
    kernel = adgen.load(artifacts / CASE, target="cuda")["elementwise"]
    y = x.clone()
    shadows = {name: each.clone() for name, each in (("x", x), ("w", w), ("y", y))}
    return bare_call(kernel, (adgen.cdiv(COUNT, BLOCK), BLOCK), (x, w, y, COUNT), shadows)


def of_torch(artifacts: Path) -> dict[str, float]:
    import torch

    operator_ = operator(artifacts).torch
    x, w = (torch.tensor(value, device="cuda") for value in inputs())
    launched = per_call(bare(artifacts, x, w), torch.cuda.synchronize)
    args = (x.requires_grad_(), w.requires_grad_())
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

    class Nothing(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            del ctx, w
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            del ctx
            return cotangent, cotangent

    def both_ways(call: Callable[..., Any], inputs: Any) -> dict[str, float]:
        for _ in range(2):  # the second one runs without Python
            made = call(*inputs)
        seed = torch.ones_like(made)

        def backward() -> None:
            torch.autograd.grad(made, inputs[:2], seed, retain_graph=True)

        return {"forward": per_call(lambda: call(*inputs), wait), "backward": per_call(backward, wait)}

    ours, op = both_ways(operator_, args), both_ways(operator_.op, args)
    nothing = both_ways(Nothing.apply, args)
    hand, own = both_ways(ByHand.apply, args), both_ways(lambda x, w: torch.addcmul(x, x, w), args)
    with torch.no_grad():
        alone = per_call(lambda: operator_(*args), wait)
        one = per_call(lambda: torch.addcmul(x, x, w), wait)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        operator_(*args)
    return {
        "launch alone": launched,
        "operator forward": ours["forward"],
        "operator backward": ours["backward"],
        "torch.ops forward": op["forward"],
        "torch.ops backward": op["backward"],
        "by hand forward": hand["forward"],
        "by hand backward": hand["backward"],
        "function that does nothing forward": nothing["forward"],
        "function that does nothing backward": nothing["backward"],
        "PyTorch's addcmul forward": own["forward"],
        "PyTorch's addcmul backward": own["backward"],
        "without autograd": alone,
        "PyTorch's addcmul without autograd": one,
        "replay of a CUDA graph with it": per_call(graph.replay, wait),
    }


def of_jax(artifacts: Path) -> dict[str, float]:
    import jax

    operator_ = operator(artifacts).jax
    x, w = (jax.numpy.asarray(value) for value in inputs())
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
        return jax.numpy.sin(x) * w + jax.numpy.exp(x)

    def in_two_kernels(x: Any) -> Any:
        """As a loop runs with an operator: XLA counts its turns in a kernel, which it fuses with its own code alone."""
        return jax.lax.optimization_barrier(jax.numpy.sin(jax.lax.optimization_barrier(x))) * w + jax.numpy.exp(x)

    def gradient(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return jax.grad(lambda x: function(x).sum())

    def many(body: Callable[[Any], Any]) -> float:
        """One of several in the body of the loop, which XLA captures in a CUDA graph."""

        def bodies(state: Any) -> Any:
            for _ in range(BODIES):
                state = jax.lax.optimization_barrier(body(state))
            return state

        return round(repeated(bodies) / BODIES, 2)

    return {
        "operator in a loop of jit": repeated(lambda x: operator_(x, w)),
        "its gradient in a loop of jit": repeated(gradient(lambda x: operator_(x, w))),
        "operator, one of many in a loop of jit": many(lambda x: operator_(x, w)),
        "its gradient, one of many in a loop of jit": many(gradient(lambda x: operator_(x, w))),
        "XLA's own code, one of many in a loop of jit": many(plain),
        "its own gradient, one of many in a loop of jit": many(gradient(plain)),
        "XLA's own code in a loop of jit": repeated(plain),
        "XLA's own code in a loop of jit, in two kernels": repeated(in_two_kernels),
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
        "elements": COUNT,
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
