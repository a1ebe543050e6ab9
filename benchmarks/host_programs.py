"""Kernels of tests/programs and tests/openmp on the host, for its ablation."""

from __future__ import annotations

import numpy as np
from programs.program import FOLDER, Program
from programs.table import PROGRAMS

from benchmarks.host_cases import Arguments, Rng
from benchmarks.host_kernels import HostKernel

_PROGRAMS = {
    "orbits": "orbits-orbits<double>-t_end-active",
    "stiff kinetics": "stiff_kinetics-chem::backward_euler<chem::Robertson>",
    "attention": "transformer_block-attention<16, true>",
    "loss of a recurrent unit": "gru_sequence-head_loss<32>",
}
"""By the names of the cases."""
_BY_NAME = {program.name: program for program in PROGRAMS}


def _case(name: str, program: Program) -> HostKernel:
    return HostKernel(
        name=name,
        file=str(FOLDER / program.file),
        function=program.entry,
        size="as tested",
        launch=program.launch,
        make=program.make,
        activity=program.activity,
    )


def _filtered(rng: Rng, blocks: int = 64, rows: int = 64) -> Arguments:
    x, taps = (rng.uniform(0, high, count).astype(np.float32) for high, count in ((1, blocks * rows * 32), (0.3, 32)))
    return {"x": x, "taps": taps, "y": np.zeros_like(x), "rows": rows, "length": 32}


def _downwards(rng: Rng, n: int = 1 << 18) -> Arguments:
    return {"x": rng.uniform(0, 1, n).astype(np.float32), "y": np.zeros(n, np.float32), "n": n, "step": 128}


_STRIDES = str(FOLDER.parent / "openmp" / "strides.cu")

PROGRAM_CASES = (
    *(_case(name, _BY_NAME[program]) for name, program in _PROGRAMS.items()),
    HostKernel("filter by rows", _STRIDES, "filtered", "64 x 64 x 32 float", (64, 32), _filtered),
    HostKernel("recurrence downwards", _STRIDES, "downwards", "128 threads, 2,048 steps", (1, 128), _downwards),
)
