"""All programs."""

from __future__ import annotations

from programs.rows import (
    atoms,
    cooperative,
    earth,
    engineering,
    finance,
    fluids,
    graphics,
    host_programs,
    inference,
    layers,
    learning,
    markets,
    mechanics,
    methods,
    numerics,
    openmp,
    packed,
    plain_cpp,
    points,
    shapes,
    signals,
    tensor_cores,
)

PROGRAMS = (
    *fluids.ROWS,
    *mechanics.ROWS,
    *graphics.ROWS,
    *learning.ROWS,
    *finance.ROWS,
    *numerics.ROWS,
    *cooperative.ROWS,
    *plain_cpp.ROWS,
    *openmp.ROWS,
    *earth.ROWS,
    *atoms.ROWS,
    *markets.ROWS,
    *layers.ROWS,
    *signals.ROWS,
    *shapes.ROWS,
    *inference.ROWS,
    *methods.ROWS,
    *host_programs.ROWS,
    *engineering.ROWS,
    *packed.ROWS,
    *tensor_cores.ROWS,
    *points.ROWS,
)

GPU_PROGRAMS = tuple(
    program
    for program in PROGRAMS
    if program.file.endswith(".cu") and program.on_gpu and not program.broken and not program.refused
)
"""The kernels whose gradient is checked on a GPU."""
