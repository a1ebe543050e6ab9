"""The compiled kernels of the operators: made when they are first needed, or loaded from a folder built before."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from functools import cache as remember
from pathlib import Path

import enzyme_driver as adgen
from enzyme_driver import cache, request, resources
from enzyme_driver.errors import ArtifactError
from enzyme_driver.model import Target
from enzyme_driver.runtime.module import Kernel
from enzyme_driver.settings import Settings

C_TYPES = {"float32": "float", "float64": "double"}

_built: list[Path] = []


def use_built(folder: str | Path | None) -> None:
    """From now on load kernels from a folder that `build` made, on a machine without compilers; None: compile them."""
    _built[:] = [] if folder is None else [Path(folder)]
    kernel.cache_clear()


@remember
def kernel(target: Target, file: str, name: str, dtype: str, constant: tuple[str, ...] = ()) -> Kernel:
    """The kernel for numbers of `dtype`; its gradient has no shadows for the inputs named in `constant`."""
    instance = f"{name}<{C_TYPES[dtype]}>"
    if _built:
        return _loaded(_built[0] / _folder_name(file, name, dtype, constant), instance, target)
    return adgen.compile(resources.operators() / file, kernel=instance, target=target, activity=_activity(constant))


def build(folder: str | Path, wanted: Iterable[tuple[str, str, str, tuple[str, ...]]], *, arch: str = "sm_90") -> int:
    """Compile kernels (file, name, dtype, constant inputs) for both targets into `folder`; how many there are."""
    count = 0
    for file, name, dtype, constant in wanted:
        asked = request.new(
            resources.operators() / file,
            names=[f"{name}<{C_TYPES[dtype]}>"],
            targets=["openmp", "cuda"],
            archs=[arch],
            activity=_activity(constant),
        )
        made = cache.build(asked, settings=Settings.from_environment())
        shutil.copytree(made, Path(folder) / _folder_name(file, name, dtype, constant), dirs_exist_ok=True)
        count += 1
    return count


def _activity(constant: tuple[str, ...]) -> dict[str, str]:
    """A gradient comes after its primal, whose result is there, and its cotangent is no longer needed behind it."""
    return {**dict.fromkeys(constant, "const"), "out": "discarded"}


def _folder_name(file: str, name: str, dtype: str, constant: tuple[str, ...]) -> str:
    return "-".join((Path(file).stem, name, dtype, *constant))


def _loaded(folder: Path, instance: str, target: Target) -> Kernel:
    entry = adgen.load(folder, target)[instance]
    if not isinstance(entry, Kernel):
        raise ArtifactError(f"{folder} holds no kernel {instance}", hint="build the operators again")
    return entry
