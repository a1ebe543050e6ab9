"""A number that is rounded by chance, in the last bits of its mantissa, has slope 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import enzyme_driver as adgen

SOURCE = Path(__file__).with_name("rounded_by_chance.cu")
N = 64


def test_the_gradient(toolchain: object) -> None:
    del toolchain
    random = np.random.default_rng(5)
    x = random.uniform(0.5, 2, N).astype(np.float32)
    kernel = adgen.compile(SOURCE, kernel="squares")
    y, z = np.zeros(N, np.uint16), np.zeros(N, np.float32)
    kernel[1, N](x, y, z, 7)
    as_floats = (y.astype(np.uint32) << 16).view(np.float32)
    assert np.allclose(as_floats, x**2, rtol=2**-6)
    assert np.allclose(z, x**3, rtol=2**-6)
    assert not (z.view(np.uint32) & 0xFFFF).any()
    cotangent = random.normal(size=N).astype(np.float32)
    found = kernel.vjp[1, N](x, y, z, 7, cotangents={"z": cotangent})
    assert np.allclose(found["x"], 3 * x**2 * cotangent, rtol=1e-5)
    ones = (np.ones(N, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    found = kernel.vjp[1, N](x, y, z, 7, cotangents={"y": ones})
    assert np.allclose(found["x"], 2 * x, rtol=2**-7)
