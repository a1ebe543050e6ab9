"""How the GPU computes powers, run on the host: one power for both slopes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from libdevice_judge import compute
from libdevice_support import judge, problem, source, trials
from libdevice_table import FUNCTIONS
from openmp.compile_support import give_host_passes

import enzyme_driver as adgen
from cuda_kernels.places import Host
from enzyme_driver.stages import prepare
from enzyme_driver.targets import cuda, openmp

POWERS = trials(function for function in FUNCTIONS if function.name == "pow")
INLINED = ("adgen-inline-math", "always-inline")

KERNEL = """
__global__ void power(const float *x, const float *y, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = powf(x[i], y[i]);
}
"""


@pytest.fixture
def as_on_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Compiles libdevice's own powers for the host instead of calling its library's; where the files are kept."""

    def reflection(*, fast_math: bool) -> tuple[str, ...]:
        return (*prepare.reflection(fast_math=fast_math), cuda.ON_GPU)

    give_host_passes(monkeypatch, *INLINED)
    monkeypatch.setattr(openmp, "reflection", reflection)
    monkeypatch.setenv("ADGEN_KEEP", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("toolchain", "as_on_gpu")
def test_powers_and_their_gradients(tmp_path: Path) -> None:
    path = tmp_path / "powers.cu"
    path.write_text(source(POWERS), encoding="utf-8")
    module = adgen.compile(path, cache=False)
    rng = np.random.default_rng()
    given = {trial: problem(trial, rng) for trial in POWERS}
    found = [judge(each, given[each], compute(module[each.kernel], given[each], Host())) for each in POWERS]
    assert len(found) > 1
    assert not [str(outcome) for outcome in found if not outcome.right]


@pytest.mark.usefixtures("toolchain")
def test_special_arguments(as_on_gpu: Path) -> None:
    path = as_on_gpu / "power.cu"
    path.write_text(KERNEL, encoding="utf-8")
    kernel = adgen.compile(path, "power", cache=False)
    special = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 3.0, 1e-40, 1e-44, 3e38, -3e38, np.inf, -np.inf, np.nan, 1e30, 1e-30]
    x, y = (each.ravel() for each in np.meshgrid(*[np.array(special, np.float32)] * 2))
    out = np.zeros_like(x)
    kernel[1, x.size](x, y, out, x.size)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(out, exact, rtol=1e-5, atol=2e-45)
