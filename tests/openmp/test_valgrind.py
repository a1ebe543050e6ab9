"""Valgrind sees gradients touch no memory that is not theirs, and decide nothing by what was never written."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from enzyme_driver import cli
from enzyme_driver.toolchain import Toolchain

STENCIL = Path(__file__).resolve().parents[2] / "cuda_kernels" / "heat3d.cu"
CALLER = r"""
#include "heat3d.h"
#include <stdio.h>
#include <stdlib.h>

static float *filled(int count, float value) {
    float *array = malloc(count * sizeof(float));
    for (int i = 0; i < count; i++) array[i] = value;
    return array;
}

int main(int argc, char **argv) {
    const int nx = 19, ny = 7, nz = 5, count = nx * ny * (argc > 1 ? nz - 1 : nz);
    float *u = filled(count, 1), *k = filled(count, 2), *v = filled(count, 0);
    float *d_u = filled(count, 0), *d_k = filled(count, 0), *d_v = filled(count, 1);
    adgen_dim3 grid = {2, 2, 3}, block = {16, 4, 2};
    if (heat3d_gradient(grid, block, 0, u, k, v, nx, ny, nz, 0.1f, d_u, d_k, d_v)) return 1;
    double sum = 0;
    for (int i = 0; i < count; i++) sum += d_u[i] + d_k[i] + d_v[i] + v[i];
    printf("%g\n", sum);
    free(u), free(k), free(v), free(d_u), free(d_k), free(d_v);
    return 0;
}
"""


def checked(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        pytest.skip("valgrind is not installed")
    argv = [valgrind, "-q", "--redzone-size=4096", "--error-exitcode=9", str(program), *arguments]
    environment = {"OMP_NUM_THREADS": "2", "PATH": "/usr/bin"}
    return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def program(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("valgrind")
    assert cli.run(["compile", str(STENCIL), "-t", "openmp", "-o", str(folder / "made")]) == 0
    (folder / "caller.c").write_text(CALLER, encoding="utf-8")
    made = folder / "made"
    flags = (f"-I{made}", f"-L{made}", f"-Wl,-rpath,{made}", "-lheat3d", "-o", folder / "caller")
    clang = toolchain.clang.prefix / "bin" / "clang"
    subprocess.run([clang, *toolchain.link_flags, "-O1", folder / "caller.c", *flags], check=True)
    return folder / "caller"


def test_a_gradient_touches_its_own_memory_only(program: Path) -> None:
    done = checked(program)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0


def test_arrays_that_are_a_plane_too_short_are_found(program: Path) -> None:
    done = checked(program, "short")
    assert done.returncode == 9
    assert "Invalid read" in done.stderr
