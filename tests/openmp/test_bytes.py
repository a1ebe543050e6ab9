"""Pointers to bytes and integers: floating point there has a derivative that nobody would get, and is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("bytes.cu")
N = 13


@pytest.mark.parametrize(
    ("name", "parameter", "what"),
    [
        ("of_a_member", "rows", "bytes"),
        ("of_a_parameter", "bytes", "bytes"),
        ("of_a_member_of_integers", "all", "int32"),
        ("of_a_chosen_member", "all", "int32"),
        ("of_integers", "bits", "int32"),
    ],
)
def test_floats_behind_other_types_are_refused(name: str, parameter: str, what: str) -> None:
    with pytest.raises(adgen.RefusedError, match=f"{name} has floating point where .*{parameter}.* points to {what}"):
        adgen.compile(FILE, name)


def test_members_without_a_shadow_stay_as_they_are() -> None:
    rng = np.random.default_rng(25)
    kernel = adgen.compile(FILE, "of_counts")
    counts, y = rng.integers(1, 9, N, dtype=np.int32), rng.standard_normal(N).astype(np.float32)
    cotangent, before = rng.standard_normal(N).astype(np.float32), counts.copy()
    all_ = {"from": None, "bits": counts, "y": y, "n": N}
    gradients = kernel.vjp[1, 32](all_, cotangents={"all": {"y": cotangent}})
    np.testing.assert_allclose(gradients["all"]["y"], cotangent * counts, rtol=1e-6)
    np.testing.assert_array_equal(counts, before)


def test_the_user_may_say_that_no_derivative_flows_there() -> None:
    rng = np.random.default_rng(24)
    kernel = adgen.compile(FILE, "of_a_parameter", activity={"bytes": "const"})
    x, cotangent = rng.standard_normal(N).astype(np.float32), rng.standard_normal(N).astype(np.float32)
    y = np.ones(N, np.float32)
    gradients = kernel.vjp[1, 32](x.view(np.uint8), y, N, cotangents={"y": cotangent})
    assert list(gradients) == ["y"]
    np.testing.assert_array_equal(gradients["y"], cotangent)


def test_bytes_that_become_numbers_are_no_floats() -> None:
    rng = np.random.default_rng(24)
    kernel = adgen.compile(FILE, "of_pixels")
    pixels, gain = rng.integers(0, 255, N, dtype=np.uint8), rng.standard_normal(N).astype(np.float32)
    cotangent = rng.standard_normal(N).astype(np.float32)
    y = np.zeros(N, np.float32)
    gradients = kernel.vjp[1, 32](pixels, gain, y, N, cotangents={"y": cotangent})
    np.testing.assert_allclose(gradients["gain"], cotangent * pixels, rtol=1e-6)
