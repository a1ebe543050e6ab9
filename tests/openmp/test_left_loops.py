"""Values and flags that loops leave behind or carry on, against central differences; on both targets the
same code comes out of Enzyme.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from left_loops_support import CPP, CUDA, KERNELS, N

import enzyme_driver as adgen
from enzyme_driver.artifact import read
from enzyme_driver.cache import build
from enzyme_driver.model import TARGETS
from enzyme_driver.request import new
from enzyme_driver.settings import Settings


@pytest.fixture(scope="module", params=["cu", "cpp"])
def module(request: pytest.FixtureRequest, toolchain: object, tmp_path_factory: pytest.TempPathFactory) -> adgen.Module:
    del toolchain
    path = tmp_path_factory.mktemp("left") / f"loops.{request.param}"
    path.write_text(CUDA if request.param == "cu" else CPP, encoding="utf-8")
    return adgen.compile(path, cache=False)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", range(3))
def test_gradient(module: adgen.Module, name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, weights = rng.uniform(-1, 1, N), rng.normal(size=N)
    one = getattr(module, name)
    is_kernel = module[name].signature.kind == "kernel"
    call, vjp = (one[2, 32], one.vjp[2, 32]) if is_kernel else (one, one.vjp)

    def weighted(at: np.ndarray) -> float:
        y = np.zeros(N)
        call(at, y, N)
        return float(weights @ y)

    gradient = vjp(x, np.zeros(N), N, cotangents={"y": weights})["x"]
    step = 1e-6
    for k in range(N):
        away = np.zeros(N)
        away[k] = step
        difference = (weighted(x + away) - weighted(x - away)) / (2 * step)
        assert gradient[k] == pytest.approx(difference, rel=1e-5, abs=1e-6), k


@pytest.mark.usefixtures("toolchain")
def test_gpu_code_is_made(tmp_path: Path) -> None:
    path = tmp_path / "loops.cu"
    path.write_text(CUDA, encoding="utf-8")
    made = read(build(new(path, targets=TARGETS), settings=Settings.from_environment(), use_cache=False))
    refused = [entry.targets[target].gradient_refused for entry in made.entries for target in TARGETS]
    assert refused == [None] * (2 * len(KERNELS))
