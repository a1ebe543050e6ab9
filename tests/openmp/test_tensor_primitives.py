"""Layers on Tensor Cores: any shape, every precision, and the compiled gradients of them, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import enzyme_driver as adgen
from enzyme_driver import resources

TILE = (32, 32, 32, 2, 1, 1)
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


def convolution(word: str, channels: int) -> tuple[Any, tuple[object, ...]]:
    """Of 60 pixels with 3 x 3 neighbourhoods and a rectifier, on Tensor Cores in half; with its launch."""
    launch: tuple[object, ...] = (10, 128)
    if word != "half":
        source, instance = "convolution.cu", f"convolution<{word}, 3, 1>"
    else:
        source, launch = "convolution_tensor.cu", (-(-60 // TILE[0]), THREADS, None, shared_bytes(2))
        vectors = str(channels % 8 == 0).lower()
        instance = f"convolution_tensor<half, 3, 2, {', '.join(map(str, TILE))}, {vectors}>"
    return adgen.compile(resources.primitives() / source, kernel=instance, target="openmp", verify="never"), launch


@pytest.mark.parametrize(("word", "channels", "filters"), [("half", 8, 16), ("half", 3, 5), ("double", 3, 5)])
def test_a_convolution_and_its_gradient(word: str, channels: int, filters: int) -> None:
    """Images of 6 x 5 pixels, by 3 x 3 neighbourhoods with zeros around."""
    dtype, tolerance = (np.float16, 8e-3) if word == "half" else (np.float64, 1e-13)
    rng = np.random.default_rng(6)
    shape, inner = (2, 6, 5), 9 * channels
    image = rng.normal(size=(*shape, channels)).astype(dtype)
    theta = rng.normal(size=(inner + 1, filters)).astype(dtype)
    out, weight = np.zeros((*shape, filters), dtype), rng.normal(size=(*shape, filters)).astype(dtype)
    kernel, launch = convolution(word, channels)
    kernel[launch](image, theta, out, *shape, channels, filters)
    around = np.pad(image.astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    near = np.concatenate([around[:, y : y + 6, x : x + 5] for y in range(3) for x in range(3)], axis=-1)
    theta64 = theta.astype(np.float64)
    z = near @ theta64[:-1] + theta64[-1]
    close(out, np.maximum(z, 0), tolerance / 2)
    found = kernel.vjp[launch](image, theta, out, *shape, channels, filters, cotangents={"out": weight})
    of_z = weight * (z > 0)
    close(found["theta"][:-1], np.einsum("nyxi,nyxf->if", near, of_z), tolerance)
    close(found["theta"][-1], of_z.sum(axis=(0, 1, 2)), tolerance)
    of_near = (of_z @ theta64[:-1].T).reshape(*shape, 3, 3, channels)
    of_image = np.zeros(around.shape)
    for y in range(3):
        for x in range(3):
            of_image[:, y : y + 6, x : x + 5] += of_near[:, :, :, y, x]
    close(found["image"], of_image[:, 1:-1, 1:-1], tolerance)


@pytest.mark.parametrize("word", ["half", "float", "double"])
def test_activations_and_hadamard_products(word: str) -> None:
    dtype: Any = {"half": np.float16, "float": np.float32, "double": np.float64}[word]
    source, rng, close_by = resources.primitives() / "elementwise.cu", np.random.default_rng(7), 4 * np.finfo(dtype).eps
    a, b, weight = (rng.normal(size=37).astype(dtype) for _ in range(3))
    out = np.zeros(37, dtype)
    activate = adgen.compile(source, kernel=f"activate<{word}, 2>", target="openmp", verify="never")
    found = activate.vjp[2, 32](a, out, 37, cotangents={"out": weight})
    close(found["z"], weight * (1 - np.tanh(a.astype(np.float64)) ** 2), close_by)
    hadamard = adgen.compile(source, kernel=f"hadamard<{word}>", target="openmp", verify="never")
    hadamard[2, 32](a, b, out, 37)
    close(out, a.astype(np.float64) * b, close_by)
    found = hadamard.vjp[2, 32](a, b, out, 37, cotangents={"out": weight})
    close(found["a"], weight.astype(np.float64) * b, close_by)
    close(found["b"], weight.astype(np.float64) * a, close_by)
