"""How many threads OpenMP uses."""

from __future__ import annotations

import ctypes
from pathlib import Path


def set_threads(count: int) -> None:
    """In every OpenMP runtime that the process has loaded."""
    loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "libomp.so" in line}
    assert loaded
    for library in loaded:
        ctypes.CDLL(library).omp_set_num_threads(count)
