"""How long the linear way and the scan take, by a model of few measured rates, and which chunks are best.

A level of the scan multiplies the Jacobians of its chunks, goes through the chain of the chunks, and then through the
steps inside each chunk. Each of these is a launch, and takes as long as one item alone where there are fewer items than
the machine does at the same time, and as long as all the arithmetic, or all the traffic of memory, else.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from enzyme_driver.scan.chain import Chain

SHORTEST, LONGEST = 4, 1 << 12
"""Chunks that are tried."""


@dataclass(frozen=True)
class Rates:
    """Of a machine: seconds of a launch, of one dependent step of a cotangent, of that for each of its elements, and of
    a product's step beside its arithmetic; multiply-adds a second of one worker; workers, and bytes a second, of a
    processor.
    """

    launch: float
    step: float
    element: float
    product: float
    arithmetic: float
    workers: float
    bandwidth: float


# Seen on an H200, and on one core of an x86-64 host.
GPU_PROCESSOR = Rates(4e-6, 5.0e-8, 6.8e-9, 3.3e-7, 1.6e10, 10.0, 2.0e10)
HOST_CORE = Rates(1.5e-5, 1.0e-8, 2.0e-9, 3.0e-8, 4.0e9, 1.0, 8.0e9)


@dataclass(frozen=True)
class Plan:
    """The chunks of the best scan, and the seconds that the model finds for it and for the linear way."""

    scan: tuple[int, ...]
    scan_seconds: float
    linear_seconds: float

    @property
    def chosen(self) -> tuple[int, ...]:
        return self.scan if self.scan_seconds < self.linear_seconds else ()


def plan(chain: Chain, direct: bool) -> Plan:
    return _planned(chain.steps, chain.batch, chain.size, chain.dtype.itemsize, direct, *_machine(chain))


@lru_cache(maxsize=256)
def _planned(steps: int, batch: int, size: int, itemsize: int, direct: bool, rates: Rates, processors: int) -> Plan:
    linear = _steps(steps, batch, 1, size, itemsize, rates, processors)
    best: tuple[int, ...] = (max(2, steps),)
    found = float("inf")
    for chunk in _chunks(steps):
        count = -(-steps // chunk)
        inner = _best(count, batch, size, itemsize, rates, processors, direct)
        seconds = (
            _products(chunk, batch, count, size + direct, size, itemsize, rates, processors)
            + inner[1]
            + _steps(chunk, batch, count, size, itemsize, rates, processors)
        )
        if seconds < found:
            best, found = (chunk, *inner[0]), seconds
    return Plan(best, found, linear)


def _best(
    steps: int, batch: int, size: int, itemsize: int, rates: Rates, processors: int, direct: bool
) -> tuple[tuple[int, ...], float]:
    inner = _planned(steps, batch, size, itemsize, direct, rates, processors)
    return (inner.scan, inner.scan_seconds) if inner.chosen else ((), inner.linear_seconds)


def _chunks(steps: int) -> list[int]:
    return [round(2 ** (power / 2)) for power in range(4, 25) if SHORTEST <= 2 ** (power / 2) < min(steps, LONGEST)]


def _steps(chunk: int, batch: int, chunks: int, size: int, itemsize: int, rates: Rates, processors: int) -> float:
    one = chunk * (rates.step + size * rates.element)
    return rates.launch + _filled(one, batch * chunks, size * size * itemsize * chunk, rates, processors)


def _products(
    chunk: int, batch: int, chunks: int, columns: int, size: int, itemsize: int, rates: Rates, processors: int
) -> float:
    one = chunk * (rates.product + columns * size * size * (itemsize / 4) / rates.arithmetic)
    return rates.launch + _filled(one, batch * chunks, size * size * itemsize * chunk, rates, processors)


def _filled(one: float, items: int, traffic: float, rates: Rates, processors: int) -> float:
    """Seconds of so many items at the same time, each of which takes so long alone and moves so many bytes."""
    return max(one * max(1.0, items / (rates.workers * processors)), traffic * items / (rates.bandwidth * processors))


def _machine(chain: Chain) -> tuple[Rates, int]:
    if chain.target == "cuda":
        return GPU_PROCESSOR, _processors(chain.library)
    return HOST_CORE, len(os.sched_getaffinity(0))


@lru_cache(maxsize=1)
def _processors(xp: Any) -> int:  # noqa: ANN401
    return int(xp.cuda.Device().attributes["MultiProcessorCount"])
