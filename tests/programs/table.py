"""All programs."""

from __future__ import annotations

from programs.rows import cooperative, finance, fluids, graphics, learning, mechanics, numerics, openmp, plain_cpp

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
)

GPU_PROGRAMS = tuple(
    program for program in PROGRAMS if program.file.endswith(".cu") and not program.broken and not program.refused
)
"""The kernels whose gradient is checked on a GPU."""
