"""What a `break` out of several loops leaves behind: the gradient on the GPU is the host's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from left_loops_support import CUDA, KERNELS, N

import enzyme_driver as adgen

cupy = pytest.importorskip("cupy")


@pytest.mark.usefixtures("toolchain")
def test_same_gradient_on_both_targets(tmp_path: Path) -> None:
    path = tmp_path / "loops.cu"
    path.write_text(CUDA, encoding="utf-8")
    here, there = adgen.compile(path, cache=False), adgen.compile(path, target="cuda", cache=False)
    rng = np.random.default_rng(5)
    x, weights = rng.uniform(-1, 1, N), rng.normal(size=N)
    for name in KERNELS:
        expected = getattr(here, name).vjp[2, 32](x, np.zeros(N), N, cotangents={"y": weights})["x"]
        given = [cupy.asarray(array) for array in (x, np.zeros(N))]
        found = getattr(there, name).vjp[2, 32](*given, N, cotangents={"y": cupy.asarray(weights)})["x"]
        assert found.get() == pytest.approx(expected, rel=1e-9, abs=1e-12), name
