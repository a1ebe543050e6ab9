"""Functions that only decide, of numbers that are made for them alone, as in sorts of points by their angles."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import enzyme_driver as adgen

SOURCE = Path(__file__).with_name("polygons.cu")
N = 40


@pytest.mark.parametrize("target", ["openmp", "cuda"])
def test_both_targets_have_the_gradients(target: Literal["openmp", "cuda"], toolchain: object) -> None:
    del toolchain
    for kernel in adgen.compile(SOURCE, target=target):
        assert not kernel.gradient_refusal


def test_the_area_of_sorted_corners(toolchain: object) -> None:
    del toolchain
    random = np.random.default_rng(3)
    corners, weight = random.normal(size=(N, 6, 2)).astype(np.float32), random.normal(size=N).astype(np.float32)
    kernel = adgen.compile(SOURCE, kernel="area", verify="always")
    found = kernel.vjp[2, 32](corners, np.zeros(N, np.float32), N, cotangents={"y": weight})["corners"]
    expected = np.zeros_like(corners)
    for i, each in enumerate(corners):
        kept = [k for k in range(6) if each[k].sum() > -1]
        order = sorted(kept, key=lambda k: float(np.arctan2(each[k, 1], each[k, 0])))
        for a, b in pairwise(order):
            expected[i, a] += weight[i] / 2 * np.array([each[b, 1], -each[b, 0]])
            expected[i, b] += weight[i] / 2 * np.array([-each[a, 1], each[a, 0]])
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_a_step_of_a_sort(toolchain: object) -> None:
    del toolchain
    x = np.random.default_rng(4).normal(size=(N, 4))
    kernel = adgen.compile(SOURCE, kernel="swapped")
    assert kernel.check[2, 32](x, np.zeros(N), N).passed
