"""What one kernel of a file has too much of, or what is wrong with it, does not take the others along."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from enzyme_driver import cache, request
from enzyme_driver.errors import AdgenError
from enzyme_driver.model import Target
from enzyme_driver.runtime import module
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.settings import Settings

pytestmark = pytest.mark.usefixtures("toolchain")

TEXT = """
__global__ void small(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}

__global__ void large(const float *x, float *y)
{
    __shared__ float s[10000];
    for (int i = threadIdx.x; i < 10000; i += blockDim.x) s[i] = x[i] * x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < 10000; i += blockDim.x) y[i] = s[9999 - i] * x[i];
}

#ifdef WRONG
__global__ void wrong(const float *x, float *y)
{
    float r;
    asm volatile("nonsense.f32 %0, %1;" : "=f"(r) : "f"(x[threadIdx.x]));
    y[threadIdx.x] = r;
}
#endif
"""


def built(folder: Path, *flags: str, names: tuple[str, ...] = (), targets: tuple[Target, ...]) -> Path:
    file = folder / "failing.cu"
    file.write_text(TEXT, encoding="utf-8")
    wanted = request.new(file, names=names, targets=targets, flags=flags)
    return cache.build(wanted, settings=Settings.from_environment(), use_cache=False)


def test_other_kernels_and_the_other_target_are_there(tmp_path: Path) -> None:
    loaded = module.load(built(tmp_path, "-DWRONG", targets=("openmp", "cuda")), "openmp")
    small, large, wrong = loaded.artifact.entries
    assert all(made.primal and made.gradient for made in (*small.targets.values(), *large.targets.values()))
    not_taken = wrong.targets["cuda"].primal_refused
    assert not_taken is not None
    assert "'nonsense'" in not_taken.reason
    x = np.random.default_rng().uniform(0.5, 1.5, 10000).astype(np.float32)
    for name, grid, arguments in (
        ("large", 1, (x, np.zeros_like(x))),
        ("small", 2, (x[:64].copy(), np.zeros(64, np.float32), 50)),
    ):
        k = loaded[name]
        assert isinstance(k, Kernel)
        k.check[grid, 32](*arguments)


@pytest.mark.parametrize("names", [("wrong",), ("wrong", "small")])
def test_what_was_asked_for_by_name_on_the_gpu_alone_is_an_error(tmp_path: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(AdgenError, match="nonsense"):
        built(tmp_path, "-DWRONG", names=names, targets=("cuda",))
