"""Blending tile by tile: however threads say that they have nothing more to do, the gradient keeps nothing for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import artifact, kernel

import enzyme_driver as adgen

FILE = Path(__file__).with_name("blended_tiles.cu")
WAYS = range(6)


@pytest.fixture(scope="module")
def kernels(toolchain: object) -> adgen.Module:
    del toolchain
    module = adgen.compile(FILE)
    assert isinstance(module, adgen.Module)
    return module


def _layers(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(count)
    return rng.uniform(0.0, 0.3, count), rng.uniform(-1, 1, count)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [1, 32, 75])
def test_layers_by_tiles(kernels: adgen.Module, way: int, count: int) -> None:
    outputs = (np.zeros(32), np.zeros(32), np.zeros(32, np.int32))
    kernel(kernels, f"blended<{way}>").check[1, 32](*_layers(count), *outputs, count)


@pytest.mark.parametrize("way", WAYS)
def test_all_ways_see_the_same(kernels: adgen.Module, way: int) -> None:
    """Behind a gradient, too, in which no lane asks the others."""
    seen = {}
    for name in ("blended<2>", f"blended<{way}>"):
        outputs = (np.zeros(32), np.zeros(32), np.zeros(32, np.int32))
        shadows = {"alphas": np.zeros(75), "colours": np.zeros(75), "seen": np.ones(32), "through": np.ones(32)}
        kernel(kernels, name).gradient[1, 32](*_layers(75), *outputs, 75, shadows=shadows)
        seen[name] = (*outputs, shadows["alphas"], shadows["colours"])
    for one, other in zip(*(seen[name] for name in ("blended<2>", f"blended<{way}>")), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("channels", [1, 5])
@pytest.mark.parametrize("count", [1, 32, 75])
def test_as_many_channels_as_the_caller_says(kernels: adgen.Module, channels: int, count: int) -> None:
    alphas, colours = _layers(count)[0], np.random.default_rng(1).uniform(-1, 1, count * channels)
    outputs = (np.zeros(32 * channels), np.zeros(32))
    kernel(kernels, "channelled").check[1, 32](alphas, colours, *outputs, count, channels)


@pytest.mark.parametrize("count", [1, 32, 75])
def test_the_layer_in_the_middle(kernels: adgen.Module, count: int) -> None:
    """Which one it is depends on the light that the reverse sweep finds again by dividing."""
    kernel(kernels, "halved").check[1, 32](*_layers(count), np.zeros(32), np.zeros(32), count)


@pytest.mark.parametrize("way", range(3))
@pytest.mark.parametrize("count", [3, 40])
def test_votes_that_decide(kernels: adgen.Module, way: int, count: int) -> None:
    kernel(kernels, f"together<{way}>").check[1, 32](*_layers(count), np.zeros(32), count)


@pytest.mark.usefixtures("toolchain")
def test_nothing_is_kept() -> None:
    named = {entry.signature.name: entry.targets["cuda"] for entry in artifact(FILE).entries}
    for name in [*(f"blended<{way}>" for way in WAYS), "channelled"]:
        assert named[name].tape is None, name
