"""A kernel of PyTorch's kind with its complex numbers, without its headers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import enzyme_driver as adgen

SOURCE = Path(__file__).with_name("torch_complex.cu")
POLES, FREQUENCY = 37, 0.7


def test_the_gradient(toolchain: object) -> None:
    del toolchain
    kernel = adgen.compile(SOURCE, kernel="filter_response", verify="always")
    random = np.random.default_rng(3)
    pole, weight, of_response = (random.normal(size=(POLES, 2)).astype(np.float32) / 2 for _ in range(3))
    of_sum = random.normal(size=(1, 2)).astype(np.float32)
    args = (pole, weight, FREQUENCY, np.zeros_like(pole), np.zeros_like(of_sum), POLES)
    found = kernel.vjp[2, 32](*args, cotangents={"response": of_response, "sum": of_sum})
    p, w, c, d = (a[:, 0] + 1j * a[:, 1] for a in (pole, weight, of_response, of_sum))
    s = np.exp(1j * FREQUENCY)
    of_pole = w / (s - p) + w.conj() / (2 * s - p.conj())
    # Cotangents of a holomorphic function go through the conjugate of its derivative.
    back = c + d * (2 * of_pole).conj()
    of_w = back * (1 / (s - p)).conj() + (back * (1 / (2 * s - p.conj())).conj()).conj()
    of_p = back * (w / (s - p) ** 2).conj() + (back * (w.conj() / (2 * s - p.conj()) ** 2).conj()).conj() - c.real * p
    for name, expected in (("weight", of_w), ("pole", of_p)):
        values = found[name][:, 0] + 1j * found[name][:, 1]
        assert np.allclose(values, expected, rtol=1e-4, atol=1e-5), name
