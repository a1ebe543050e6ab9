"""Pointers to bytes: what they lead to has a derivative that no shadow of bytes can take, unless it is bytes indeed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("bytes.cu")
N = 13


@pytest.mark.parametrize(("name", "parameter"), [("of_a_member", "rows"), ("of_a_parameter", "bytes")])
def test_floats_behind_bytes_are_refused(name: str, parameter: str) -> None:
    with pytest.raises(adgen.RefusedError, match=f"{name} has floating point where .*{parameter}.* points to bytes"):
        adgen.compile(FILE, name)


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
