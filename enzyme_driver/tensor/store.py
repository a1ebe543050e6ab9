"""Compiled kernels of one folder of CUDA files: made when first needed, or loaded from a folder built before."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from functools import cache as remember
from pathlib import Path

import enzyme_driver as adgen
from enzyme_driver import cache, request
from enzyme_driver.errors import ArtifactError
from enzyme_driver.model import Target
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.settings import Settings

Activity = Mapping[str, str]


class KernelStore:
    """Instances of templates in the files of a folder, by file, name in C++ and the parameters that are constant."""

    def __init__(self, sources: Callable[[], Path], activity: Callable[[str, str, tuple[str, ...]], Activity]) -> None:
        """`sources` finds the folder, `activity` says what is asked of an instance (file, instance, constant)."""
        self._sources = sources
        self._activity = activity
        self._built: Path | None = None
        self.kernel = remember(self._kernel)

    def use_built(self, folder: str | Path | None) -> None:
        """From now on load from a folder that `build` made, on a machine without compilers; None: compile."""
        self._built = None if folder is None else Path(folder)
        self.kernel.cache_clear()

    def _kernel(self, target: Target, file: str, instance: str, constant: tuple[str, ...] = ()) -> Kernel:
        if self._built is None:
            return adgen.compile(
                self._sources() / file,
                kernel=instance,
                target=target,
                activity=dict(self._activity(file, instance, constant)),
                verify="never",  # adgen's own kernels, which its tests check
            )
        found = adgen.load(self._built / _folder_name(file, instance, constant), target)[instance]
        if not isinstance(found, Kernel):
            raise ArtifactError(f"{self._built} holds no kernel {instance}", hint="build the folder again")
        return found

    def build(
        self, folder: str | Path, file: str, instance: str, constant: tuple[str, ...] = (), *, arch: str = "sm_90"
    ) -> None:
        """Compile an instance for both targets into `folder`."""
        asked = request.new(
            self._sources() / file,
            names=[instance],
            targets=["openmp", "cuda"],
            archs=[arch],
            activity=dict(self._activity(file, instance, constant)),
        )
        made = cache.build(asked, settings=Settings.from_environment())
        shutil.copytree(made, Path(folder) / _folder_name(file, instance, constant), dirs_exist_ok=True)


def _folder_name(file: str, instance: str, constant: tuple[str, ...]) -> str:
    return "-".join((Path(file).stem, *re.findall(r"\w+", instance), *constant))
