"""The compiled kernels of the operators: made when they are first needed, or loaded from a folder built before."""

from __future__ import annotations

import re
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
OWNED = {"sum.cu", "max.cu", "transpose.cu"}
"""Files in whose kernels one thread alone uses an element of `a`, which indices of two axes do not prove."""
UNARY, BINARY = ("copy", "negate", "exp", "log", "relu"), ("add", "subtract", "multiply", "divide", "power")
READ_ONCE = {**{f"{name}.cu": ("a",) for name in UNARY}, **{f"{name}.cu": ("a", "b") for name in BINARY}}
"""Files whose kernels use each element of these arrays in one place: the gradient writes the whole of their shadows."""

_built: list[Path] = []


def use_built(folder: str | Path | None) -> None:
    """From now on load kernels from a folder that `build` made, on a machine without compilers; None: compile them."""
    _built[:] = [] if folder is None else [Path(folder)]
    kernel.cache_clear()


@remember
def kernel(target: Target, file: str, template: str, dtype: str, constant: tuple[str, ...] = ()) -> Kernel:
    """The kernel for numbers of `dtype`; its gradient has no shadows for the inputs named in `constant`.

    `template` is its name in C++ with `{}` for the type.
    """
    instance = template.format(C_TYPES[dtype])
    if _built:
        return _loaded(_built[0] / _folder_name(file, instance, constant), instance, target)
    return adgen.compile(
        resources.operators() / file, kernel=instance, target=target, activity=_activity(file, constant)
    )


def build(folder: str | Path, wanted: Iterable[tuple[str, str, str, tuple[str, ...]]], *, arch: str = "sm_90") -> int:
    """Compile kernels (file, template, dtype, constant inputs) for both targets into `folder`; how many there are."""
    count = 0
    for file, template, dtype, constant in wanted:
        instance = template.format(C_TYPES[dtype])
        asked = request.new(
            resources.operators() / file,
            names=[instance],
            targets=["openmp", "cuda"],
            archs=[arch],
            activity=_activity(file, constant),
        )
        made = cache.build(asked, settings=Settings.from_environment())
        shutil.copytree(made, Path(folder) / _folder_name(file, instance, constant), dirs_exist_ok=True)
        count += 1
    return count


def _activity(file: str, constant: tuple[str, ...]) -> dict[str, str]:
    """A gradient comes after its primal, whose result is there, and its cotangent is no longer needed behind it."""
    owned = {"a": "owned"} if file in OWNED else {}
    fresh = dict.fromkeys(READ_ONCE.get(file, ()), "fresh")
    return {**owned, **fresh, **dict.fromkeys(constant, "const"), "out": "discarded"}


def _folder_name(file: str, instance: str, constant: tuple[str, ...]) -> str:
    return "-".join((Path(file).stem, *re.findall(r"\w+", instance), *constant))


def _loaded(folder: Path, instance: str, target: Target) -> Kernel:
    entry = adgen.load(folder, target)[instance]
    if not isinstance(entry, Kernel):
        raise ArtifactError(f"{folder} holds no kernel {instance}", hint="build the operators again")
    return entry
