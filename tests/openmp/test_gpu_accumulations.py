"""What the GPU does with accumulations into shared memory, run on the host: partial tiles, blocks and warps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openmp.compile_support import give_host_passes
from openmp.test_left_lanes import LAUNCHES, SOURCE, Launch, arguments

import enzyme_driver as adgen
from enzyme_driver.runtime.backends.teams import threads

KERNELS = Path(__file__).parents[2] / "cuda_kernels"
AS_ON_GPU = (
    "function(correlated-propagation,instsimplify)",
    *("adgen-share-reciprocals", "adgen-gather-accumulations", "adgen-rotate-accumulations"),
)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], Any]]:
    """Compiles for the host with the passes that only the GPU gets; shuffles and barriers need stacks there.

    One thread runs the blocks one after the other: the shared memory that these passes make is one global on the host.
    """

    give_host_passes(monkeypatch, *AS_ON_GPU)
    monkeypatch.setenv("ADGEN_DISABLE", "barrier-loop-fission")
    with threads(1):
        yield lambda file, kernel: adgen.compile(KERNELS / file, kernel, cache=False)


@pytest.mark.parametrize("shape", [(16, 16, 16), (20, 35, 50), (1, 5, 3)])
def test_a_tiled_product_gathers(compiled: Callable[[str, str], Any], shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    random = np.random.default_rng()
    a, b, c, d_c = (random.random(extents, dtype=np.float32) - 0.5 for extents in ((m, k), (k, n), (m, n), (m, n)))
    shadows = {"A": np.zeros_like(a), "B": np.zeros_like(b), "C": d_c.copy()}
    launch = (-(-n // 16), -(-m // 16)), (16, 16)
    compiled("matmul_tiled.cu", "matmul").gradient[launch](a, b, c, m, n, k, shadows=shadows)
    np.testing.assert_allclose(shadows["A"], d_c @ b.T, atol=1e-5)
    np.testing.assert_allclose(shadows["B"], a.T @ d_c, atol=1e-5)


@pytest.mark.parametrize(("bodies", "block"), [(100, 64), (64, 32), (50, 48), (40, 20)])
def test_all_pairs_rotate(compiled: Callable[[str, str], Any], bodies: int, block: int) -> None:
    random = np.random.default_rng()
    x, y, q, phi, d_phi = (random.random(bodies) for _ in range(5))
    shadows = {"x": np.zeros(bodies), "y": np.zeros(bodies), "q": np.zeros(bodies), "phi": d_phi.copy()}
    launch = -(-bodies // block), block, None, 24 * block
    compiled("nbody_tiles.cu", "potential").gradient[launch](x, y, q, phi, bodies, shadows=shadows)
    dx, dy = x[:, None] - x, y[:, None] - y
    inverse = 1 / np.sqrt(dx**2 + dy**2 + 0.01)
    force = -(d_phi[:, None] * q + d_phi * q[:, None]) * inverse**3
    np.testing.assert_allclose(shadows["q"], inverse @ d_phi, rtol=1e-11)
    np.testing.assert_allclose(shadows["x"], (force * dx).sum(1), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(shadows["y"], (force * dy).sum(1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("name", "launch"), [each for each in LAUNCHES if each[0] in {"norm_rows", "scaled_rows"}])
def test_rows_add_in_shared_memory(monkeypatch: pytest.MonkeyPatch, name: str, launch: Launch) -> None:
    give_host_passes(monkeypatch, "adgen-privatize-accumulations")
    monkeypatch.setenv("ADGEN_DISABLE", "barrier-loop-fission")
    with threads(1):
        adgen.compile(SOURCE, name, cache=False).check[launch[:2]](*arguments(name, launch))
