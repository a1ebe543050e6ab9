"""A kernel of PyTorch's kind that reduces rows with what its headers have for that, without these headers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import enzyme_driver as adgen

SOURCE = Path(__file__).with_name("torch_reductions.cu")
ROWS, COLUMNS, SEED, OFFSET = 3, 50, 7, 2
STATE = {"seed_": SEED, "offset_": OFFSET, "offset_intragraph_": 0, "captured_": False}


def test_the_gradient(toolchain: object) -> None:
    del toolchain
    kernel = adgen.compile(SOURCE, kernel="dropped_softmax<float>", verify="always")
    random = np.random.default_rng(2)
    x, weight = (random.normal(size=(ROWS, COLUMNS)).astype(np.float32) for _ in range(2))
    scale = random.normal(size=ROWS).astype(np.float32)
    args = (x, np.zeros_like(x), np.zeros(ROWS, np.float32), COLUMNS, STATE)
    found = kernel.vjp[ROWS, 64](*args, cotangents={"y": weight, "most": scale}, wrt="x")["x"]
    kept = weight * ((SEED + OFFSET * np.arange(COLUMNS)) % 3 != 0)
    p = np.exp(x - x.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    expected = p * (kept - (p * kept).sum(1, keepdims=True))
    expected[np.arange(ROWS), x[:, :32].argmax(1)] += scale
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-6)
