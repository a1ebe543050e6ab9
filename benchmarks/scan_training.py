"""Losses of training by the scan and by others, and the scan's time on a part of a GPU."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scan_times import Row, graph

STEPS, RATE = 300, 0.05
PARTS_OF_GPU = (1, 2, 4, 8, 16, 33, 66, 99)
"""Multiprocessors that are left to the scan, beside all of them."""

_HOLD = """
extern "C" __global__ void hold(volatile int *stop)
{
    extern __shared__ char memory[];
    if (threadIdx.x == 0) {
        while (!*stop) __nanosleep(10000);
    }
    __syncthreads();
    memory[threadIdx.x] = 0;
}
"""
LARGEST_SHARED = 227 * 1024


def curves(built: Path) -> Iterator[Row]:
    """The losses of 300 steps from the same weights: by the scan, step by step, and in PyTorch with cuDNN."""
    import network
    import train

    made = network.kernels("cuda", built / "bitstream")
    for length in (100, 1000):
        options = Namespace(length=length, batch=16, steps=STEPS, rate=RATE, target="cuda")
        begin = network.weights(np.random.default_rng(0))
        found: dict[str, list[float]] = {}
        for method in ("scan", "linear"):
            net = network.Network(made, begin, length, options.batch, method=method)
            found[method] = [train.step(net, *batch, RATE) for batch in train.batches(options)]
        found["cudnn"] = train.by_torch(begin, options)
        apart = {
            name: float(np.abs(np.subtract(found["scan"], found[name]))[: train.ALIKE].max())
            for name in ("linear", "cudnn")
        }
        yield {"part": "curves", "length": length, "batch": options.batch, "losses": found, "apart": apart}


def multiprocessors(built: Path) -> Iterator[Row]:
    """The network's backward pass while other blocks hold all multiprocessors but some."""
    import cupy
    import network

    made = network.kernels("cuda", built / "bitstream")
    rng = np.random.default_rng(0)
    begin, all_of_them = network.weights(rng), cupy.cuda.Device().attributes["MultiProcessorCount"]
    for length, batch in ((1000, 16), (10000, 16)):
        bits, labels = network.streams(rng, length, batch)
        net = network.Network(made, begin, length, batch)
        net.bits[...], net.labels[...] = cupy.asarray(bits), cupy.asarray(labels)
        net.forward()
        last = net.last_cotangents()
        for free in (all_of_them, *PARTS_OF_GPU):  # all first: nothing is loaded or allocated while others wait
            with _holding(all_of_them - free):
                spent = graph(lambda: net.before(dict(last)))  # noqa: B023
            yield {
                "part": "multiprocessors",
                "length": length,
                "batch": batch,
                "free": free,
                "of": all_of_them,
                "backward_ms": spent,
            }


@contextmanager
def _holding(count: int) -> Iterator[None]:
    """So many multiprocessors have all their shared memory taken by a block that waits."""
    import cupy

    hold: Any = cupy.RawKernel(_HOLD, "hold")
    hold.max_dynamic_shared_size_bytes = LARGEST_SHARED
    stop = cupy.zeros(1, np.int32)
    side, telling = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    try:
        if count:
            with side:
                hold((count,), (1024,), (stop,), shared_mem=LARGEST_SHARED)
        yield
    finally:
        with telling:
            stop.fill(1)
        telling.synchronize()
        side.synchronize()
