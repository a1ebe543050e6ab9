"""Numbers beside the arrays of a struct that a kernel takes by value: they have no derivative, and cost nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Adgen

pytestmark = pytest.mark.usefixtures("toolchain")

KERNEL = """
struct Given { const float *x; float *y; float scale, steps[4]; int n, which; };
__global__ void scaled(Given p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.n) p.y[i] = p.x[i] * p.scale * p.steps[p.which];
}
"""


def test_nothing_is_added_up_for_them_and_no_thread_has_a_copy(tmp_path: Path) -> None:
    file = tmp_path / "scaled.cu"
    file.write_text(KERNEL, encoding="utf-8")
    done = Adgen(tmp_path / "work")("compile", str(file), "-t", "cuda", "--emit", "cuda")
    assert done.returncode == 0, done.stderr
    gradient = done.stdout.partition("__gradient(")[2].partition("\n}")[0]
    assert "load float" in gradient
    assert "alloca" not in gradient
    assert "memcpy" not in gradient
