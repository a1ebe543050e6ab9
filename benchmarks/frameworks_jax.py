"""The cases of the benchmark that are a few lines of JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")

TILE = 1024
"""Rows and columns of the all-pairs matrix that exist at once: with all columns JAX did not end within minutes."""

Array = Any
Problem = tuple[Callable[..., Array], tuple[str, ...]]
"""A function of arrays, and the names of the arguments that it takes."""


def elementwise(_: Mapping[str, Any]) -> Problem:
    return lambda x, w: jnp.sin(x) * w + jnp.exp(x), ("x", "w")


def recurrence(args: Mapping[str, Any]) -> Problem:
    def logistic(x0: Array, rate: Array) -> Array:
        return lax.scan(lambda x, _: (rate * x * (1 - x), None), x0, None, length=args["steps"])[0]

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
        return v.at[inner].set(c + args["dt"] * k[inner] * (along_x + along_y + along_z - 6 * c))

    return step, ("u", "k", "v")


def potential(_: Mapping[str, Any]) -> Problem:
    @jax.checkpoint
    def added(so_far: Array, tile: tuple[Array, ...], place: tuple[Array, ...]) -> Array:
        dx, dy = tile[0][None, :] - place[0][:, None], tile[1][None, :] - place[1][:, None]
        return so_far + jnp.sum(tile[2] / jnp.sqrt(dx * dx + dy * dy + 0.01), axis=1)

    def total(x: Array, y: Array, q: Array) -> Array:
        tiles = tuple(each.reshape(-1, TILE) for each in (x, y, q))

        def rows(place: tuple[Array, ...]) -> Array:
            return lax.scan(lambda so_far, tile: (added(so_far, tile, place), None), jnp.zeros(TILE), tiles)[0]

        return lax.map(rows, tiles[:2]).reshape(-1)

    return total, ("x", "y", "q")


def sum_of_squares(_: Mapping[str, Any]) -> Problem:
    return lambda x: jnp.sum(x * x).reshape(1), ("x",)


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
        function, names = PROBLEMS[name](args)
        self.names = names
        self._given = tuple(jax.dlpack.from_dlpack(args[each]) for each in names)
        self._cotangent = jax.dlpack.from_dlpack(cotangent)
        self._forward = jax.jit(function)
        self._gradient = jax.jit(lambda given, cotangent: jax.vjp(function, *given)[1](cotangent))

    def forward(self) -> Array:
        return self._forward(*self._given)

    def gradient(self) -> tuple[Array, ...]:
        """From the arguments to the derivatives, in one compiled function."""
        return self._gradient(self._given, self._cotangent)

    @staticmethod
    def wait(results: Any) -> None:  # noqa: ANN401
        jax.block_until_ready(results)
