"""Compiling for the host otherwise than users do: without optimisations, or with passes that only the GPU gets.

And a kernel or function of what was compiled, and what is recorded of it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import enzyme_driver as adgen
from enzyme_driver import pipelines
from enzyme_driver.artifact import Artifact, read
from enzyme_driver.cache import build
from enzyme_driver.model import TARGETS
from enzyme_driver.pipelines import Pass
from enzyme_driver.request import new
from enzyme_driver.settings import Settings
from enzyme_driver.targets import openmp


def compiled_without(optimisations: str, file: Path) -> adgen.Module:
    """The file without the optimisations of these names, with commas between them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ADGEN_DISABLE", optimisations)
        return adgen.compile(file)


def give_host_passes(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Passes that the GPU gets where it adds up before it accumulates."""
    host = pipelines.HOST_FROM_CUDA
    place = next(i for i, part in enumerate(host.parts) if part.name == "adgen-inline-math")
    more = replace(host, parts=(*host.parts[:place], *map(Pass, names), *host.parts[place:]))
    monkeypatch.setattr(openmp, "_PIPELINES", {**openmp._PIPELINES, "cuda": (more, pipelines.THREADS)})


def function(module: adgen.Module, name: str) -> adgen.Function:
    found = module[name]
    assert isinstance(found, adgen.Function)
    return found


def kernel(module: adgen.Module, name: str) -> adgen.Kernel:
    found = module[name]
    assert isinstance(found, adgen.Kernel)
    return found


def artifact(source: Path) -> Artifact:
    """Of the file, for all targets."""
    return read(build(new(source, targets=TARGETS), settings=Settings.from_environment()))
