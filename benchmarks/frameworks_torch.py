"""The cases of the benchmark that are a few lines of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

CHUNK = 2048
"""Rows of the all-pairs matrix that exist at once."""

Array = Any
Problem = tuple[Callable[..., Array], tuple[str, ...]]
"""A function of arrays, and the names of the arguments that it takes."""


def elementwise(_: Mapping[str, Any]) -> Problem:
    return lambda x, w: torch.sin(x) * w + torch.exp(x), ("x", "w")


def recurrence(args: Mapping[str, Any]) -> Problem:
    def logistic(x0: Array, rate: Array) -> Array:
        x = x0
        for _ in range(args["steps"]):
            x = rate * x * (1 - x)
        return x

    return logistic, ("x0", "rate")


def matmul(_: Mapping[str, Any]) -> Problem:
    return lambda a, b: a @ b, ("A", "B")


def heat(args: Mapping[str, Any]) -> Problem:
    inner = (slice(1, -1),) * 3

    def step(u: Array, k: Array, v: Array) -> Array:
        c = u[inner]
        along_x = u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
        along_y = u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
        along_z = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
        after = v.clone()
        after[inner] = c + args["dt"] * k[inner] * (along_x + along_y + along_z - 6 * c)
        return after

    return step, ("u", "k", "v")


def potential(_: Mapping[str, Any]) -> Problem:
    def rows(x: Array, y: Array, q: Array, start: int) -> Array:
        dx, dy = x - x[start : start + CHUNK, None], y - y[start : start + CHUNK, None]
        return (q / torch.sqrt(dx * dx + dy * dy + 0.01)).sum(1)

    def total(x: Array, y: Array, q: Array) -> Array:
        from torch.utils.checkpoint import checkpoint

        starts = range(0, len(x), CHUNK)
        return torch.cat([checkpoint(rows, x, y, q, start, use_reentrant=False) for start in starts])

    return total, ("x", "y", "q")


def sum_of_squares(_: Mapping[str, Any]) -> Problem:
    return lambda x: (x * x).sum().reshape(1), ("x",)


PROBLEMS: dict[str, Callable[[Mapping[str, Any]], Problem]] = {
    "elementwise": elementwise,
    "recurrence": recurrence,
    "tiled matmul": matmul,
    "heat stencil": heat,
    "N-body tiles": potential,
    "block reduction": sum_of_squares,
}
"""By the names of the benchmark's cases."""


class Runs:
    """What is timed of a case; arrays come and go through DLPack."""

    def __init__(self, name: str, args: Mapping[str, Any], cotangent: Array) -> None:
        self._function, self.names = PROBLEMS[name](args)
        self._given = [torch.from_dlpack(args[each]).requires_grad_() for each in self.names]
        self._cotangent = torch.from_dlpack(cotangent)

    def forward(self) -> Array:
        with torch.no_grad():
            return self._function(*self._given)

    def gradient(self) -> tuple[Array, ...]:
        """From the arguments to the derivatives: forward, then backward."""
        return torch.autograd.grad(self._function(*self._given), self._given, self._cotangent)

    @staticmethod
    def wait(results: Any) -> None:  # noqa: ANN401
        del results
        torch.cuda.synchronize()
