"""Products that the reverse sweep divides: whichever iteration comes before the one that leaves the loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import artifact, kernel

import enzyme_driver as adgen


@pytest.fixture(scope="module")
def kernels(toolchain: object) -> adgen.Module:
    del toolchain
    module = adgen.compile(Path(__file__).with_name("light_left.cu"))
    assert isinstance(module, adgen.Module)
    return module


@pytest.fixture(scope="module")
def light(kernels: adgen.Module) -> adgen.Kernel:
    return kernel(kernels, "light")


@pytest.mark.parametrize("count", [1, 4, 40])
@pytest.mark.parametrize("threads", [5, 32])
def test_light(light: adgen.Kernel, count: int, threads: int) -> None:
    rng = np.random.default_rng(count + threads)
    x, density = rng.uniform(-1, 1, count), rng.uniform(-1, 1, count)
    light.check[2, threads](x, density, np.zeros(count), count)


@pytest.mark.parametrize("density", [[3, -2, 3, 3], [3, 3, -2, 3], [-2, 3, 3, 3], [3, 3, 3, -2]])
def test_a_skipped_point_or_a_seen_one_before_the_last(light: adgen.Kernel, density: list[float]) -> None:
    """With -2 a point is passed over; two of 3 leave a hundredth."""
    x = np.linspace(-0.05, 0.05, 4) + 0.01
    light.check[1, 2](x, np.array(density, float), np.zeros(4), 4)


@pytest.mark.parametrize("least", [0.0, 1e-3])
@pytest.mark.parametrize("spoilt", [[], [0], [3], [5], [2, 4]])
@pytest.mark.parametrize("by", [0.0, 1e-200, 5e-324])
def test_products_that_come_to_zero(kernels: adgen.Module, least: float, spoilt: list[int], by: float) -> None:
    rng = np.random.default_rng(len(spoilt))
    x = rng.uniform(0.5, 1.2, (4, 6))
    x[:, spoilt] *= by
    seen, left, expected = rng.standard_normal(4), rng.standard_normal(4), np.zeros((4, 6))
    for i in range(4):
        before = [1.0]
        while len(before) <= x.shape[1] and not before[-1] < least:
            before.append(before[-1] * x[i, len(before) - 1])
        cotangent = left[i]
        for k in reversed(range(len(before) - 1)):
            expected[i, k] = before[k] * (cotangent + (k + 1) * seen[i])
            cotangent = x[i, k] * (cotangent + (k + 1) * seen[i])
    gradient = np.zeros((4, 6))
    shadows = {"x": gradient, "seen": seen, "left": left}
    kernel(kernels, "passes").gradient[1, 4](x, np.zeros(4), np.zeros(4), 6, least, shadows=shadows)
    np.testing.assert_allclose(gradient, expected, rtol=1e-13, atol=1e-320)


@pytest.mark.parametrize("breaks", ["true", "false"])
@pytest.mark.parametrize("count", [1, 8, 21, 45])
def test_layers_in_tiles(kernels: adgen.Module, breaks: str, count: int) -> None:
    rng = np.random.default_rng(count)
    order = rng.permutation(count).astype(np.int32)
    alphas, colors = rng.uniform(0.0, 0.6, count), rng.uniform(-1, 1, count)
    outputs = (np.zeros(8), np.zeros(8), np.zeros(8, np.int32))
    kernel(kernels, f"layers<{breaks}>").check[1, 8](order, alphas, colors, *outputs, count)


@pytest.mark.parametrize("pixels", [8, 5])
@pytest.mark.parametrize("mask", [None, [True, False], [False, True]])
def test_layers_in_a_mask(kernels: adgen.Module, mask: list[bool] | None, pixels: int) -> None:
    alphas = np.random.default_rng(pixels).uniform(0.05, 0.5, 21)
    outputs = (np.zeros(16), np.zeros(16, np.int32))
    given = None if mask is None else np.array(mask)
    kernel(kernels, "masked_layers").check[2, 8](given, alphas, *outputs, 21, pixels)


@pytest.mark.usefixtures("toolchain")
def test_what_layers_in_a_mask_keep_is_measured() -> None:
    made = artifact(Path(__file__).with_name("light_left.cu"))
    launch = next(entry.targets["cuda"] for entry in made.entries if entry.signature.name == "masked_layers")
    assert launch.tape is not None
    assert not launch.heap


@pytest.mark.parametrize("stop", [0, 1, 2])
@pytest.mark.parametrize("pixels", [8, 5])
@pytest.mark.parametrize("count", [1, 8, 21, 45])
def test_layers_of_threads_that_return(kernels: adgen.Module, stop: int, pixels: int, count: int) -> None:
    alphas = np.random.default_rng(count).uniform(0.0, 0.6, count)
    outputs = (np.zeros(16), np.zeros(16))
    kernel(kernels, f"returned_layers<{stop}>").check[2, 8](alphas, *outputs, count, pixels)


@pytest.mark.parametrize("way", [0, 1, 2])
@pytest.mark.parametrize("count", [1, 8, 21, 45])
def test_layers_that_are_asked_for_light(kernels: adgen.Module, way: int, count: int) -> None:
    alphas = np.random.default_rng(count).uniform(0.0, 0.6, count)
    kernel(kernels, f"asked_layers<{way}>").check[1, 8](alphas, np.zeros(8), np.zeros(8), count)


@pytest.mark.parametrize("spoilt", [None, 3, 12])
def test_a_light_that_is_none_is_not_counted_as_dark(kernels: adgen.Module, spoilt: int | None) -> None:
    alphas = np.random.default_rng(2).uniform(0.2, 0.6, 21)
    if spoilt is not None:
        alphas[spoilt] = np.nan
    told, dark = kernel(kernels, "told_layers"), np.zeros(3, np.int32)
    told[1, 8](alphas, np.zeros(8), dark, 21)
    assert dark.tolist() == ([0, 0, 0] if spoilt == 3 else [0, dark[1], dark[2]])
    again = np.zeros(3, np.int32)
    shadows = {"alphas": np.zeros(21), "seen": np.ones(8)}
    told.gradient[1, 8](alphas, np.zeros(8), again, 21, shadows=shadows)
    np.testing.assert_array_equal(again, dark)
    if spoilt is None:
        told.check[1, 8](alphas, np.zeros(8), again, 21)


@pytest.mark.parametrize("spoilt", [None, 3, 7])
def test_a_light_that_is_none_sees_no_more_tiles(kernels: adgen.Module, spoilt: int | None) -> None:
    rng = np.random.default_rng(3)
    alphas, passes = rng.uniform(0.2, 0.6, 21), rng.uniform(0.8, 0.9, 21)
    if spoilt is not None:
        passes[spoilt] = np.nan
    layers, seen, again = kernel(kernels, "layers_of_none"), np.zeros(8), np.zeros(8)
    layers[1, 8](alphas, passes, seen, 21)
    assert np.isfinite(seen).all() == (spoilt != 3)
    shadows = {"alphas": np.zeros(21), "passes": np.zeros(21), "seen": np.ones(8)}
    layers.gradient[1, 8](alphas, passes, again, 21, shadows=shadows)
    np.testing.assert_array_equal(again, seen)
    if spoilt is None:
        layers.check[1, 8](alphas, passes, np.zeros(8), 21)


@pytest.mark.usefixtures("toolchain")
def test_what_is_known_again_is_not_kept() -> None:
    made = artifact(Path(__file__).with_name("light_left.cu"))
    named = {entry.signature.name: entry.targets["cuda"] for entry in made.entries}
    for name in ("steps", "asked_layers<0>"):
        assert named[name].tape is None, name


@pytest.mark.parametrize("scale", [1.0, 1e6, np.inf])
def test_light_of_a_depth(kernels: adgen.Module, scale: float) -> None:
    """One sample may hide all that come, and those before have their gradient all the same."""
    density = np.random.default_rng(5).uniform(0.0, 0.5, (4, 9))
    density[:, 5] *= scale
    depth = np.cumsum(density, axis=1)
    before = np.exp(-np.concatenate([np.zeros((4, 1)), depth[:, :-1]], axis=1))
    terms = before * (1 - np.exp(-density)) * np.arange(1, 10)
    behind = np.cumsum(terms[:, ::-1], axis=1)[:, ::-1] - terms
    expected = before * np.exp(-density) * np.arange(1, 10) - behind
    gradient = np.zeros((4, 9))
    kernel(kernels, "depths").gradient[1, 4](density, np.zeros(4), 9, shadows={"density": gradient, "seen": np.ones(4)})
    np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("least", [1e-3, 0.3])
def test_steps_to_a_threshold(kernels: adgen.Module, least: float) -> None:
    density = np.random.default_rng(6).uniform(0.0, 1.0, (4, 9))
    kernel(kernels, "steps").check[1, 4](density, np.zeros(4), 9, least)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("most", [0.2, 0.95])
def test_a_product_rounded_from_double(kernels: adgen.Module, most: float) -> None:
    rng = np.random.default_rng(7)
    begins = np.array([0, 1, 12, 12, 60], np.int32)
    alphas, toward = rng.uniform(0, most, 60).astype(np.float32), rng.standard_normal(60).astype(np.float32)
    behind = rng.standard_normal(4).astype(np.float32)
    expected = np.zeros(60)
    for ray in range(4):
        first, last = begins[ray : ray + 2]
        before, cotangent = [1.0], float(behind[ray])
        while len(before) <= last - first and not before[-1] < 1e-3:
            before.append(before[-1] * (1 - float(alphas[first + len(before) - 1])))
        for k in reversed(range(first, first + len(before) - 1)):
            expected[k] = before[k - first] * (toward[k] - cotangent)
            cotangent = toward[k] * alphas[k] + (1 - alphas[k]) * cotangent
    gradient = np.zeros(60, np.float32)
    shadows = {"alphas": gradient, "weights": toward.copy(), "left": behind.copy()}
    outputs = (np.zeros(60, np.float32), np.zeros(4, np.float32))
    packed = kernel(kernels, "packed")
    packed.gradient[1, 4](alphas, begins, *outputs, 4, shadows=shadows)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("toolchain")
def test_a_product_rounded_from_double_is_not_kept() -> None:
    made = artifact(Path(__file__).with_name("light_left.cu"))
    launch = next(entry.targets["cuda"] for entry in made.entries if entry.signature.name == "packed")
    assert launch.tape is None
