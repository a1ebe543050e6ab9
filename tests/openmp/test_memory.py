"""Gradients on the host leave no memory behind, also where loops are left early."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
from programs.program import Program
from programs.table import PROGRAMS

import enzyme_driver as adgen

CALLS = 150
MOST = 1 << 20
"""Bytes that so many calls may leave to the allocator's own ways; what was lost here before was 5 to 20 MB."""
NAMES = ("ray_march-render", "mie-efficiencies", "sph-acceleration")


def resident() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return 4096 * pages


def named(name: str) -> Program:
    return next(program for program in PROGRAMS if program.name == name)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", NAMES)
def test_many_gradients_take_no_more_memory_than_one(name: str) -> None:
    program = named(name)
    kernel = adgen.compile(program.path, kernel=program.entry, activity=program.activity)
    args = program.make(np.random.default_rng())
    cotangents = {name: np.ones_like(args[name]) for name in program.outputs}

    def gradient() -> None:
        kernel.vjp[program.launch](*args.values(), cotangents=cotangents)

    for _ in range(5):
        gradient()
    before = resident()
    for _ in range(CALLS):
        gradient()
    assert resident() - before < MOST
