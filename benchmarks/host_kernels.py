"""CUDA kernels on the host, beside what a person would write in C++ with OpenMP: what `benchmarks.openmp` measures."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.host_cases import FOLDER, Arguments, Rng
from enzyme_driver.model import Activity

KERNELS = FOLDER.parents[1] / "cuda_kernels"
BY_HAND = FOLDER / "by_hand.cpp"


@dataclass(frozen=True)
class HostKernel:
    """A kernel of the collection with a launch and arguments; its function in by_hand.cpp takes the same ones."""

    name: str
    file: str
    function: str
    size: str
    launch: tuple[object, ...]
    make: Callable[[Rng], Arguments]
    at_most: float = 4.0
    over_hand_at_most: float = 1.3
    activity: Mapping[str, Activity] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return KERNELS / self.file

    def by_hand(self, library: Path) -> Callable[[Arguments], None]:
        """Once adgen's library is loaded, which brings the OpenMP runtime that both use."""
        function = ctypes.CDLL(str(library))[self.function]
        return lambda args: function(*map(_plain, args.values()))


def _plain(value: Any) -> Any:  # noqa: ANN401  (what a ctypes function takes)
    if isinstance(value, np.ndarray):
        return value.ctypes.data_as(ctypes.c_void_p)
    return ctypes.c_int(value) if isinstance(value, int) else ctypes.c_float(value)


def _floats(rng: Rng, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def _elementwise(rng: Rng, n: int = 2**21) -> Arguments:
    return {"x": _floats(rng, n), "w": _floats(rng, n), "y": _floats(rng, n), "n": n}


def _stencil(rng: Rng, edge: int = 128) -> Arguments:
    arrays = {name: _floats(rng, edge, edge, edge) for name in "ukv"}
    return {**arrays, "nx": edge, "ny": edge, "nz": edge, "dt": 0.1}


def _bodies(rng: Rng, n: int = 4096) -> Arguments:
    return {**{name: rng.standard_normal(n) for name in ("x", "y", "q", "phi")}, "n": n}


def _matrices(rng: Rng, n: int = 512) -> Arguments:
    return {**{name: _floats(rng, n, n) for name in "ABC"}, "m": n, "n": n, "k": n}


KERNEL_CASES = (
    HostKernel("elementwise", "elementwise.cu", "elementwise", "2^21 float", (2**21 // 256, 256), _elementwise),
    HostKernel("stencil", "heat3d.cu", "heat3d", "128^3 float", ((4, 16, 32), (32, 8, 4)), _stencil),
    HostKernel("N-body", "nbody_tiles.cu", "potential", "4,096 double", (32, 128, None, 3 * 8 * 128), _bodies),
    HostKernel("tiled matmul", "matmul_tiled.cu", "matmul", "512 x 512 float", ((32, 32), (16, 16)), _matrices),
)
