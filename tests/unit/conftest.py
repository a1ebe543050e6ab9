"""Fixtures of the unit tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import FakeProcess, executable
from machines import Machine

from enzyme_driver.toolchain import enzyme, find, search


@pytest.fixture
def machine(tmp_path: Path, fake_process: FakeProcess, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(enzyme, "HOMEBREW", (tmp_path / "brew",))
    monkeypatch.setattr(enzyme, "NIX_SYSTEM", tmp_path / "nix")
    monkeypatch.setattr(search, "DEBIAN_LLVM", tmp_path / "debian")
    monkeypatch.setattr(find, "find_llvmlite", lambda: executable(tmp_path / "libllvmlite.so"))
    return Machine(tmp_path, fake_process)
