"""adgen's own files are found, from a checkout and from an installed package."""

from __future__ import annotations

from pathlib import Path

import pytest

from enzyme_driver import resources
from enzyme_driver.errors import ToolchainError


def test_templates_of_this_checkout() -> None:
    folder = resources.templates()
    assert folder.is_dir()
    assert any(folder.iterdir())


def test_templates_inside_an_installed_package_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "enzyme_driver"
    (package / "templates").mkdir(parents=True)
    (tmp_path / "templates").mkdir()
    monkeypatch.setattr(resources, "PACKAGE", package)
    assert resources.templates() == package / "templates"


def test_missing_templates_are_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resources, "PACKAGE", tmp_path / "enzyme_driver")
    with pytest.raises(ToolchainError, match="templates are missing"):
        resources.templates()


def test_own_sources_are_sorted_and_complete() -> None:
    passes = resources.own_sources("passes")
    assert passes == tuple(sorted(passes))
    assert {".cpp", ".h"} <= {path.suffix for path in passes}
    assert all(path.is_file() for path in passes)
