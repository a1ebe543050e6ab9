"""Textures and surfaces: what is read is what the CUDA Programming Guide says, and has a derivative."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.textures import ADDRESS_MODES, FILTER_MODES, AddressMode, FilterMode

pytestmark = pytest.mark.usefixtures("toolchain")

Floats = npt.NDArray[np.float32]
FILE = Path(__file__).with_name("textures.cu")
HEIGHT, WIDTH = 13, 17
LAUNCH = ((2, 2), (16, 16))


@pytest.fixture(scope="module")
def kernels() -> adgen.Module:
    return adgen.compile(FILE, verify="always")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def floats(rng: np.random.Generator, *shape: int) -> Floats:
    return rng.uniform(-1, 1, shape).astype(np.float32)


def kernel(kernels: adgen.Module, name: str) -> Kernel:
    found = kernels[name]
    assert isinstance(found, Kernel)
    return found


def addressed(coordinate: npt.NDArray[np.float64], size: int, mode: str) -> npt.NDArray[np.float64]:
    """The guide's rule for a normalised coordinate, as a texel's; NaN is beside a border."""
    if mode == "wrap":
        coordinate = coordinate - np.floor(coordinate)
    elif mode == "mirror":
        below = np.floor(coordinate)
        coordinate = np.where(below % 2 == 0, coordinate - below, 1 - (coordinate - below))
    return coordinate * size


def texel(image: npt.NDArray[np.float64], y: npt.NDArray[Any], x: npt.NDArray[Any], mode: str) -> npt.NDArray[Any]:
    """Indices have been folded as far as coordinates go; what a filter reads beside them is folded here."""
    height, width = image.shape
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    if mode == "wrap":
        x, y = x % width, y % height
    found = image[np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)]
    return np.asarray(found * inside if mode == "border" else found)


def fetched(image: Floats, x: Floats, y: Floats, mode: str, filtered: str) -> npt.NDArray[Any]:
    """`tex2D` at normalised coordinates, in float64."""
    wide, height, width = image.astype(np.float64), *image.shape
    along, across = addressed(x.astype(np.float64), width, mode), addressed(y.astype(np.float64), height, mode)
    if filtered == "point":
        return texel(wide, np.floor(across).astype(int), np.floor(along).astype(int), mode)
    i, j = np.floor(along - 0.5).astype(int), np.floor(across - 0.5).astype(int)
    a, b = along - 0.5 - i, across - 0.5 - j
    above = (1 - a) * texel(wide, j, i, mode) + a * texel(wide, j, i + 1, mode)
    below = (1 - a) * texel(wide, j + 1, i, mode) + a * texel(wide, j + 1, i + 1, mode)
    return np.asarray((1 - b) * above + b * below)


@pytest.mark.parametrize("filtered", FILTER_MODES)
@pytest.mark.parametrize("mode", ADDRESS_MODES)
def test_reads_as_the_guide_says(
    kernels: adgen.Module, rng: np.random.Generator, mode: AddressMode, filtered: FilterMode
) -> None:
    image, out = floats(rng, 8, 16), np.zeros((HEIGHT, WIDTH), np.float32)  # powers of two: coordinates are exact
    y, x = (rng.integers(-40, 60, (2, HEIGHT, WIDTH)) / 32 + 1 / 128).astype(np.float32)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    given = adgen.texture(image, filter_mode=filtered, address_mode=mode, normalized=True)
    kernel(kernels, "bend")[LAUNCH](out, WIDTH, HEIGHT, x - columns, y - rows, given)
    assert np.allclose(out, fetched(image, x, y, mode, filtered), rtol=0, atol=2e-5)


@pytest.mark.parametrize("filtered", FILTER_MODES)
@pytest.mark.parametrize("mode", ADDRESS_MODES)
def test_gradients(kernels: adgen.Module, rng: np.random.Generator, mode: AddressMode, filtered: FilterMode) -> None:
    """By dual numbers, and by differences: with texels, and with coordinates where they are filtered."""
    how: dict[str, Any] = {"filter_mode": filtered, "address_mode": mode}
    out, colours = np.zeros((HEIGHT, WIDTH), np.float32), np.zeros((HEIGHT * WIDTH, 4), np.float32)
    moved = 3 * floats(rng, 2, HEIGHT, WIDTH)
    image = adgen.texture(floats(rng, HEIGHT, WIDTH), **how)
    assert kernel(kernels, "bend").check[LAUNCH](out, WIDTH, HEIGHT, *moved, image, seed=1).passed
    four = adgen.texture(floats(rng, HEIGHT, WIDTH, 4), channels=4, normalized=True, **how)
    assert kernel(kernels, "tint").check[LAUNCH](colours, WIDTH, HEIGHT, 2.7, four, seed=1).passed
    volume = adgen.texture(floats(rng, 5, 6, 7), **how)
    start, step = 5 * floats(rng, 20, 3), floats(rng, 20, 3)
    rays = np.zeros(20, np.float32)
    assert kernel(kernels, "absorb").check[2, 16](rays, 20, start, step, 9, volume, seed=1).passed


def test_layers_and_linear_memory(kernels: adgen.Module, rng: np.random.Generator) -> None:
    maps = {
        "curve": adgen.texture(floats(rng, 12, 2), channels=2, filter_mode="linear"),
        "layers": adgen.texture(floats(rng, 3, 5, 9), filter_mode="linear", address_mode=["border", "clamp"]),
    }
    assert kernel(kernels, "stacked").check[1, 32](np.zeros(20, np.float32), 20, maps, seed=1).passed


def test_a_derivative_has_the_shape_of_the_texels(kernels: adgen.Module, rng: np.random.Generator) -> None:
    out, none = np.zeros((HEIGHT, WIDTH), np.float32), np.zeros((HEIGHT, WIDTH), np.float32)
    image, cotangent = floats(rng, HEIGHT, WIDTH), floats(rng, HEIGHT, WIDTH)
    found = kernel(kernels, "bend").vjp[LAUNCH](
        out, WIDTH, HEIGHT, none, none, adgen.texture(image), cotangents={"out": cotangent}
    )
    assert np.array_equal(found["image"]["texels"], cotangent)


def test_surfaces(kernels: adgen.Module, rng: np.random.Generator) -> None:
    image, out = floats(rng, HEIGHT, WIDTH), np.zeros((HEIGHT, WIDTH), np.float32)
    given = adgen.surface(image), adgen.surface(out), WIDTH, HEIGHT
    kernel(kernels, "neighbours")[LAUNCH](*given)
    left, right = image[:, [0, *range(WIDTH - 1)]], np.pad(image, ((0, 0), (0, 1)))[:, 1:]
    assert np.allclose(out, image * left + right, atol=1e-6)
    assert kernel(kernels, "neighbours").check[LAUNCH](*given, seed=1).passed


def test_integers_are_read_as_they_are_or_as_shares(kernels: adgen.Module, rng: np.random.Generator) -> None:
    photo = rng.integers(0, 256, (HEIGHT, WIDTH, 4), dtype=np.uint8)
    signed = rng.integers(-(2**15), 2**15, (HEIGHT, WIDTH, 4), dtype=np.int16)
    out, grey = np.zeros((HEIGHT, WIDTH, 4), np.uint8), np.zeros((HEIGHT, WIDTH), np.float32)
    given = adgen.texture(photo, channels=4), adgen.texture(signed, channels=4)
    kernel(kernels, "photograph")[LAUNCH](out.reshape(-1, 4), grey, WIDTH, HEIGHT, 3.0, *given)
    assert np.array_equal(out, photo)
    assert np.allclose(grey, 9 * np.maximum(signed[..., :3] / (2**15 - 1), -1).sum(-1), atol=1e-5)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(adgen.SourceError, match="no mipmaps") as error:
        adgen.compile(FILE, kernel="level", flags=["-DMIPMAPS"])
    assert "an array for adgen.texture(...)" in error.value.hint
    assert error.value.location
    assert error.value.location.file == str(FILE)
