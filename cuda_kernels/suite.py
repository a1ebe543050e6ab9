"""The whole collection."""

from __future__ import annotations

from cuda_kernels.case import Case
from cuda_kernels.cases import control, elementwise, flow, loops, neighbours, shared, structs, transport

CASES: tuple[Case, ...] = (
    *elementwise.CASES,
    *loops.CASES,
    *neighbours.CASES,
    *structs.CASES,
    *shared.CASES,
    *control.CASES,
    *transport.CASES,
    *flow.CASES,
)


def by_name() -> dict[str, Case]:
    return {case.name: case for case in CASES}
