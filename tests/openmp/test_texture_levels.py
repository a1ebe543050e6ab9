"""Structs with arrays of pointers that are handed on by value, and signs turned by the bits of an index."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import artifact, kernel

import enzyme_driver as adgen
from enzyme_driver.model import TARGETS

SOURCE = Path(__file__).with_name("texture_levels.cu")


@pytest.fixture(scope="module")
def kernels(toolchain: object) -> adgen.Module:
    del toolchain
    return adgen.compile(SOURCE)


@pytest.mark.parametrize("name", ["nearest_level", "between_levels"])
def test_levels_of_a_texture(kernels: adgen.Module, name: str) -> None:
    rng = np.random.default_rng(4)
    n, width = 24, 16
    texture = {
        "levels": [rng.normal(size=max(width >> level, 2)) for level in range(4)],
        "at": rng.uniform(0.01, 0.99, n),
        "level": rng.integers(0, 3, n) + rng.uniform(0.1, 0.9, n),
        "out": np.zeros(n),
        "width": width,
        "count": n,
        "last": 3,
    }
    kernel(kernels, name).check[2, 16](texture)


def test_faces_of_a_cube(kernels: adgen.Module) -> None:
    rng = np.random.default_rng(5)
    direction = rng.choice([-1.0, 1.0], (48, 3)) * rng.permuted(np.tile([0.3, 0.6, 1.2], (48, 1)), axis=1)
    direction += rng.uniform(-0.05, 0.05, direction.shape)
    at = np.zeros((48, 2), np.float32)
    kernel(kernels, "on_faces").check[3, 16](direction.astype(np.float32), at, 48)
    assert ((at >= 0) & (at <= 1)).all()


@pytest.mark.usefixtures("toolchain")
def test_both_targets_have_the_gradients() -> None:
    made = artifact(SOURCE)
    assert [entry.targets[target].gradient_refused for entry in made.entries for target in TARGETS] == [None] * 6
