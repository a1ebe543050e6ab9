"""Plain loops over arrays, tiles in shared memory, and five applications at their published sizes."""

from __future__ import annotations

from benchmarks.case import Case
from benchmarks.cases import arrays, flow, tiles, transport

CASES: tuple[Case, ...] = (*arrays.CASES, *tiles.CASES, *transport.CASES, *flow.CASES)
