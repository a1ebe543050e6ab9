"""Gradients compiled for AMD GPUs: whole objects, in which no symbol is left undefined. Nothing is run."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cuda_kernels.suite import by_name
from enzyme_driver import pipeline, request
from enzyme_driver.errors import RefusedError, UsageError
from enzyme_driver.settings import Settings
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets import amdgpu
from enzyme_driver.toolchain import Toolchain

KERNELS = (
    "elementwise-elementwise",
    "nbody_tiles-potential",  # dynamic shared memory
    "matmul_tiled-matmul",  # static shared memory, barriers
    "recurrence-logistic",  # a tape
    "lbm_d3q19-collide_and_stream",  # structs by value, constant tables
    "warp_scan-warp_scan",  # shuffles
    "warp_rotate-warp_rotate",  # votes, barriers that count
    "recursion-expand",  # calls
    "math_mix_double-math_mix_double",  # libdevice with 128-bit arithmetic
)


@pytest.mark.parametrize("name", KERNELS)
def test_no_symbol_is_undefined(
    name: str, toolchain: Toolchain, machine_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = by_name()[name]
    wanted = request.new(case.path, names=[case.kernel], targets=["cuda"], activity=case.activity)
    objects = []
    assembly = amdgpu.assembly

    def both(ir: Path, arch: str, workspace: Workspace) -> Path:
        for each in amdgpu.ARCHS:
            made = assembly(ir, each, workspace, suffix=".o")
            objects.append(made.rename(tmp_path / f"{each}.o"))
        return assembly(ir, arch, workspace)

    monkeypatch.setattr(amdgpu, "assembly", both)
    text = pipeline.emit(wanted, "gfx90a", settings=machine_settings)
    assert re.search(r"^\s*\.amdhsa_kernel \S+__gradient$", text, re.MULTILINE)
    assert "amdgcn-amd-amdhsa--gfx90a" in text
    assert len(objects) == len(amdgpu.ARCHS)
    for made in objects:
        said = subprocess.run(
            [toolchain.opt.prefix / "bin" / "llvm-nm", made], check=True, capture_output=True, text=True
        ).stdout
        assert re.search(r" T \S+__gradient$", said, re.MULTILINE)
        assert not re.search(r"^\s*U ", said, re.MULTILINE), said


def test_the_device_heap_is_refused(machine_settings: Settings, toolchain: Toolchain) -> None:
    del toolchain
    case = by_name()["recurrence-logistic"]
    without = replace(machine_settings, disable=frozenset({"lower-caches"}))
    with pytest.raises(RefusedError, match="malloc"):
        pipeline.emit(request.new(case.path, targets=["cuda"]), "gfx90a", settings=without)


def test_cpp_has_no_such_stage(machine_settings: Settings, toolchain: Toolchain, tmp_path: Path) -> None:
    del toolchain
    source = tmp_path / "f.cpp"
    source.write_text("double f(double *x) { return *x; }\n")
    with pytest.raises(UsageError, match="C\\+\\+"):
        pipeline.emit(request.new(source), "gfx942", settings=machine_settings)


def test_loops_that_are_entered_at_two_places_get_one_entry(tmp_path: Path, machine_settings: Settings) -> None:
    """LLVM's back end would give them one, too, with numbers that belong to the other way."""
    path = tmp_path / "odd_or_even.cu"
    path.write_text(
        """
        __global__ void odd_or_even(const float *x, float *y, int k)
        {
            int turns = 0;
            float v = x[threadIdx.x];
            while (k != 1) {
                if (k & 1) {
                    k = 3 * k + 1;
                    v = v * x[k % 8];
                    if (++turns > 40) { v *= 2; break; }
                } else {
                    k >>= 1;
                    v = sqrtf(v * v + 0.1f);
                    if (v > 3) goto left;
                }
            }
            v += 1;
        left:
            y[threadIdx.x] = v;
        }
        """
    )
    pipeline.emit(request.new(path, targets=["cuda"]), "gfx90a", settings=replace(machine_settings, keep=tmp_path))
    (optimised,) = tmp_path.glob("*.gfx90a.ll")
    assert "irr.guard" in optimised.read_text()
