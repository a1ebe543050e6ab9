"""Kernels of tests/programs on the host for its ablation, at the sizes of the tests."""

from __future__ import annotations

from programs.program import FOLDER, Program
from programs.table import PROGRAMS

from benchmarks.host_kernels import HostKernel

_NAMES = (
    "orbits-orbits<double>-t_end-active",
    "stiff_kinetics-chem::backward_euler<chem::Robertson>",
    "transformer_block-attention<16, true>",
    "gru_sequence-head_loss<32>",
)


def _case(program: Program) -> HostKernel:
    return HostKernel(
        name=program.name,
        file=str(FOLDER / program.file),
        function=program.entry,
        size="as tested",
        launch=program.launch,
        make=program.make,
        activity=program.activity,
    )


PROGRAM_CASES = tuple(_case(program) for program in PROGRAMS if program.name in _NAMES)
