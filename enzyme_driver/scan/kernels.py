"""The compiled kernels of the scan: made when they are first needed, or loaded from a folder built before."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from functools import cache as remember
from pathlib import Path
from typing import Any

import numpy as np

import enzyme_driver as adgen
from enzyme_driver import cache, request
from enzyme_driver.model import Target
from enzyme_driver.settings import Settings

HERE = Path(__file__).resolve().parent
WARP, REGISTERS_AHEAD = 32, 80
SMALL_STATE = 32
"""The largest state that a warp of chunks.cu takes."""
C_TYPES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
ARRAYS = {
    "chunk_products": ("jacobians", "direct", "products", "offsets"),
    "chunk_cotangents": ("jacobians", "direct", "ends", "cotangents"),
}

_built: list[Path] = []


def use_built(folder: str | Path | None) -> None:
    """From now on load kernels from a folder that `build` made, on a machine without compilers; None: compile them."""
    _built[:] = [] if folder is None else [Path(folder)]
    loaded.cache_clear()


def columns(size: int, itemsize: int, direct: bool) -> int:
    """How many cotangents a lane of `chunk_products` carries: as many as fit into registers and fill a warp best."""
    count = size + direct
    least = -(-count // WARP)
    most = max(least, 66 * 4 // itemsize // size)

    def used(each: int) -> float:
        lanes = -(-count // each)
        return (WARP // lanes) * count / (WARP * each) if lanes <= WARP else 0.0

    return max(range(least, min(most, count) + 1), key=lambda each: (used(each) * each / (each + 1), -each))


def products_instance(dtype: np.dtype[Any], size: int, direct: bool) -> str:
    each = columns(size, dtype.itemsize, direct)
    return f"chunk_products<{C_TYPES[dtype]}, {size}, {each}, {str(direct).lower()}>"


def cotangents_instance(dtype: np.dtype[Any], size: int, direct: bool) -> str:
    depth = min(8, max(2, REGISTERS_AHEAD * 4 // dtype.itemsize // size // 2 * 2))
    return f"chunk_cotangents<{C_TYPES[dtype]}, {size}, {depth}, {str(direct).lower()}>"


def host_instance(name: str, dtype: np.dtype[Any], direct: bool) -> str:
    return f"{name}<{C_TYPES[dtype]}, {str(direct).lower()}>"


@remember
def loaded(instance: str, target: Target) -> Any:  # noqa: ANN401  (a kernel on the GPU, a function on the host)
    """The kernel or function, compiled or from the built folder."""
    if _built:
        return adgen.load(_built[0] / _folder_name(instance, target), target)[instance]
    if target == "cuda":
        file = HERE / "chunks.cu"
        return adgen.compile(file, kernel=instance, target="cuda", activity=_activity(instance), verify="never")
    return adgen.compile(HERE / "chunks.cpp", function=instance, activity=_activity(instance), verify="never")


def build(folder: str | Path, wanted: Iterable[tuple[str, Target]], *, arch: str = "sm_90") -> int:
    """Compile instances, each with its target, into `folder` for machines without compilers; how many there are."""
    count = 0
    for instance, target in wanted:
        file = HERE / ("chunks.cu" if target == "cuda" else "chunks.cpp")
        asked = request.new(file, names=[instance], targets=[target], archs=[arch], activity=_activity(instance))
        made = cache.build(asked, settings=Settings.from_environment())
        shutil.copytree(made, Path(folder) / _folder_name(instance, target), dirs_exist_ok=True)
        count += 1
    return count


def _activity(instance: str) -> dict[str, str]:
    """No gradient is made."""
    return dict.fromkeys(ARRAYS[instance.partition("<")[0]], "const")


def _folder_name(instance: str, target: str) -> str:
    return "-".join((target, *re.findall(r"\w+", instance)))
