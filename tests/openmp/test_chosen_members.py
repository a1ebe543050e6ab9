"""Maxima and minima by atomics in arrays to which the members of a struct lead."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import kernel

import enzyme_driver as adgen

GROUPS, N = 4, 60


@pytest.fixture(scope="module")
def kernels(toolchain: object) -> adgen.Module:
    del toolchain
    module = adgen.compile(Path(__file__).with_name("chosen_members.cu"))
    assert isinstance(module, adgen.Module)
    return module


def test_what_remains_is_one_threads(kernels: adgen.Module) -> None:
    rng = np.random.default_rng(1)
    v, group = rng.uniform(0.5, 2, N).astype(np.float32), rng.integers(0, GROUPS, N).astype(np.int32)
    before = np.array([0, 0, 9, 0], np.float32), np.array([9, 9, 9, 0.1], np.float32)
    given = {"v": v, "most": before[0].copy(), "least": before[1].copy(), "group": group}
    toward = {"most": rng.standard_normal(GROUPS).astype(np.float32), "least": np.ones(GROUPS, np.float32)}
    extremes = kernel(kernels, "extremes")
    found = extremes.vjp[2, 32](given, N, cotangents={"g": toward})["g"]
    expected = np.zeros(N)
    for each in range(GROUPS):
        (where,) = np.nonzero(group == each)
        if (v[where] ** 2).max() > before[0][each]:
            expected[where[v[where].argmax()]] += 2 * v[where].max() * toward["most"][each]
        if v[where].min() < before[1][each]:
            expected[where[v[where].argmin()]] += 1
    np.testing.assert_allclose(found["v"], expected, rtol=1e-6)
    np.testing.assert_array_equal(found["most"], np.where(before[0] > 4, toward["most"], 0))
    np.testing.assert_array_equal(found["least"], before[1] < 0.5)
    np.testing.assert_array_equal((given["most"], given["least"]), before)
    extremes.check[2, 32](given, N)


def test_bits_carry_no_derivative(kernels: adgen.Module) -> None:
    v = np.linspace(1, 2, N, dtype=np.float32)
    given = {"of": {"v": v, "most": np.zeros(1, np.uint32)}, "sum": np.zeros(1, np.float32), "n": N}
    found = kernel(kernels, "largest_bits").vjp[2, 32](given, cotangents={"s": {"sum": np.ones(1, np.float32)}})
    np.testing.assert_allclose(found["s"]["of"]["v"], 2 * v)


def test_what_remains_is_not_read_in_the_same_kernel(kernels: adgen.Module) -> None:
    assert "does something else to the array too" in kernel(kernels, "read_at_once").gradient_refusal
