"""Layers on Tensor Cores: any shape, every precision, and the compiled gradients of them, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import enzyme_driver as adgen
from enzyme_driver import resources

TILE = (32, 32, 16, 2, 1, 1)
THREADS = 32
TYPES: dict[str, tuple[type[np.floating[Any]], float]] = {"half": (np.float16, 2e-3), "float": (np.float32, 5e-3)}
SHAPES = [(40, 24, 48), (33, 19, 35)]
"""Rows, inputs, outputs: multiples of 16 bytes, and not."""


def compiled(precision: str, activation: int, *, vectors: bool, turned: tuple[bool, bool] = (False, False)) -> Any:  # noqa: ANN401
    switches = [str(each).lower() for each in (vectors, *turned)]
    instance = f"dense_tensor<{', '.join([precision, str(activation), *map(str, TILE), *switches])}>"
    source = resources.primitives() / "dense_tensor.cu"
    return adgen.compile(source, kernel=instance, target="openmp", verify="never")


def shared_bytes(bytes_each: int) -> int:
    rows, columns, depth, stages, *_ = TILE
    return (rows * (depth + 8) + depth * (columns + 8) + rows * 8) * stages * bytes_each


def close(found: NDArray[Any], wanted: NDArray[Any], tolerance: float) -> None:
    assert float(abs(found.astype(np.float64) - wanted).max()) < tolerance * float(abs(wanted).max())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("precision", list(TYPES))
def test_a_layer_and_its_gradient(precision: str, shape: tuple[int, int, int]) -> None:
    dtype, tolerance = TYPES[precision]
    rows, inputs, outputs = shape
    rng = np.random.default_rng(3)
    x, theta = rng.normal(size=(rows, inputs)).astype(dtype), rng.normal(size=(inputs + 1, outputs)).astype(dtype)
    out, weight = np.zeros((rows, outputs), dtype), rng.normal(size=(rows, outputs)).astype(dtype)
    kernel = compiled(precision, 3, vectors=shape == SHAPES[0])
    blocks = -(-rows // TILE[0]) * -(-outputs // TILE[1])
    launch = (blocks, THREADS, None, shared_bytes(np.dtype(dtype).itemsize))
    kernel[launch](x, theta, out, rows, inputs, outputs, 2)
    x64, theta64 = x.astype(np.float64), theta.astype(np.float64)
    wanted = np.tanh(x64 @ theta64[:-1] + theta64[-1])
    close(out, wanted, tolerance)
    found = kernel.vjp[launch](x, theta, out, rows, inputs, outputs, 2, cotangents={"out": weight})
    of_z = weight * (1 - wanted**2)
    close(found["x"], of_z @ theta64[:-1].T, 4 * tolerance)
    close(found["theta"][:-1], x64.T @ of_z, 4 * tolerance)
    close(found["theta"][-1], of_z.sum(axis=0), 4 * tolerance)


@pytest.mark.parametrize("turned", [(True, False), (False, True)])
def test_a_product_with_a_factor_that_lies_transposed(turned: tuple[bool, bool]) -> None:
    rng = np.random.default_rng(4)
    left, right = (rng.normal(size=size).astype(np.float16) for size in ((40, 24), (24, 48)))
    out = np.zeros((40, 48), np.float16)
    stored = [np.ascontiguousarray(each.T if on else each) for each, on in zip((left, right), turned, strict=True)]
    kernel = compiled("half", 0, vectors=True, turned=turned)
    kernel[4, THREADS, None, shared_bytes(2)](*stored, out, 40, 24, 48, 2)
    close(out, left.astype(np.float64) @ right.astype(np.float64), 2e-3)
