"""Compiling for the host otherwise than users do: without optimisations, or with passes that only the GPU gets."""

from __future__ import annotations

from pathlib import Path

import pytest

import enzyme_driver as adgen
from enzyme_driver.stages import prepare
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets import openmp


def compiled_without(optimisations: str, file: Path) -> adgen.Module:
    """The file without the optimisations of these names, with commas between them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ADGEN_DISABLE", optimisations)
        return adgen.compile(file)


def give_host_passes(monkeypatch: pytest.MonkeyPatch, passes: str) -> None:
    """Passes that the GPU gets where it adds up before it accumulates."""

    def after_enzyme(workspace: Workspace, *, fast_math: bool, own: str = "") -> str:
        return prepare.after_enzyme(workspace, fast_math=fast_math, own=own, reduction=passes)

    monkeypatch.setattr(openmp, "after_enzyme", after_enzyme)
