"""Shuffles whose clamp is each lane's own: the adjoint asks the lane that may have received, and no other one does."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Adgen

pytestmark = pytest.mark.usefixtures("toolchain")

KERNEL = """
__global__ void sums(const float *x, float *y, const int *last)
{
    int lane = threadIdx.x % 32, end = LAST;
    float sum = x[threadIdx.x];
    for (int apart = 1; apart < 32; apart *= 2) {
        float other;
        asm volatile("shfl.sync.down.b32 %0, %1, %2, %3, -1;" : "=f"(other) : "f"(sum), "r"(apart), "r"(end));
        sum += lane + apart <= end ? other : 0;
    }
    y[threadIdx.x] = sum * sum;
}
"""


def _gradient(folder: Path, last: str) -> str:
    file = folder / "sums.cu"
    file.write_text(KERNEL.replace("LAST", last), encoding="utf-8")
    done = Adgen(folder / "work")("compile", str(file), "-t", "cuda", "--emit", "cuda")
    assert done.returncode == 0, done.stderr
    return str(done.stdout).partition("__gradient(")[2]


def test_lanes_with_clamps_of_their_own_are_asked(tmp_path: Path) -> None:
    assert "call i32 @llvm.nvvm.shfl.sync.idx.i32(" in _gradient(tmp_path, "last[lane]")


def test_a_common_clamp_is_not_asked_for(tmp_path: Path) -> None:
    assert "call i32 @llvm.nvvm.shfl.sync.idx.i32(" not in _gradient(tmp_path, "31")
