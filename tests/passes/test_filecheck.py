"""Runs the RUN lines of the `.ll` files here: `opt` with adgen's passes, its output read by FileCheck."""

from __future__ import annotations

import importlib
import re
import subprocess
from pathlib import Path

import pytest
from passes.run_lines import FILES, run_lines, runnable

from enzyme_driver import registry
from enzyme_driver.toolchain import Toolchain

ROOT = Path(__file__).parents[2]

_NAME = re.compile(r"adgen-[a-z-]+")


@pytest.mark.parametrize(
    ("path", "line"),
    [pytest.param(path, line, id=f"{path.stem}-{i}") for path in FILES for i, line in enumerate(run_lines(path))],
)
def test_run_line(path: Path, line: str, toolchain: Toolchain, filecheck: Path, tmp_path: Path) -> None:
    command = runnable(line, path, toolchain, filecheck, tmp_path / "written")
    argv = ["bash", "-o", "pipefail", "-c", command]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_runs_and_checks_something(path: Path) -> None:
    lines = run_lines(path)
    assert lines
    assert all("%filecheck" in line for line in lines)


@pytest.mark.parametrize("name", registry.by_name())
def test_every_pass_has_a_file(name: str) -> None:
    tested = {found for path in FILES for line in run_lines(path) for found in _NAME.findall(line)}
    assert name in tested


@pytest.mark.parametrize("row", registry.rows(), ids=lambda row: row.name)
def test_a_pass_is_tested_in_the_folder_that_it_lies_in(row: registry.Row) -> None:
    of_folder = [path for path in FILES if path.parent.name == row.folder]
    assert any(row.name in _NAME.findall(line) for path in of_folder for line in run_lines(path))


def test_the_passes_page_has_a_paragraph_for_every_pass_in_the_section_of_its_folder() -> None:
    page = (ROOT / "docs" / "passes.md").read_text(encoding="utf-8")
    sections = {part.partition(":")[0]: part for part in page.split("\n## ")[1:]}
    for folder, section in sections.items():
        expected = [row.name for row in registry.rows() if row.folder == folder]
        assert re.findall(r"^### `(adgen-[a-z-]+)", section, re.MULTILINE) == expected
    assert {row.folder for row in registry.rows()} <= sections.keys()


def test_the_index_of_the_passes_page_is_that_of_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    maker = importlib.import_module("make_passes_index")
    page = maker.PAGE.read_text(encoding="utf-8")
    assert maker.with_index(page) == page, "run docs/make_passes_index.py"
