"""Programs of many authors on the GPU: those that the OpenMP target takes, and those with barriers."""

from __future__ import annotations

import secrets

import pytest
from programs.gpu import assert_right_on_gpu
from programs.program import Program
from programs.table import GPU_PROGRAMS

import enzyme_driver as adgen

pytest.importorskip("cupy")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("program", GPU_PROGRAMS, ids=lambda program: program.name)
def test_gradient(program: Program) -> None:
    seed = secrets.randbits(31)
    kernel = adgen.compile(program.path, kernel=program.entry, target="cuda", activity=program.activity)
    try:
        assert_right_on_gpu(kernel, program, seed)
    except Exception as problem:
        problem.add_note(f"seed {seed}")
        raise
