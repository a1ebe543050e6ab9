"""Kernels of tests/programs on the host for its ablation, at the sizes of the tests."""

from __future__ import annotations

from programs.program import FOLDER, Program
from programs.table import PROGRAMS

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


PROGRAM_CASES = tuple(_case(name, _BY_NAME[program]) for name, program in _PROGRAMS.items())
