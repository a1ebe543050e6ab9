"""Every notebook of the documentation runs, and prints what is kept in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SECONDS = 300
"""That one cell may take."""


def printed(cell: dict[str, object]) -> str:
    outputs = cell.get("outputs", [])
    assert isinstance(outputs, list)
    return "".join(output["text"] for output in outputs if output.get("name") == "stdout")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    search = [str(ROOT), str(ROOT / "enzyme_driver" / "alias"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, search)))
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    kept = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(fresh, timeout=SECONDS, kernel_name="python3", resources=folder).execute()
    for before, after in zip(kept.cells, fresh.cells, strict=True):
        assert printed(after) == printed(before), before.source
    assert any(printed(cell) for cell in kept.cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_is_in_the_menu(path: Path) -> None:
    menu = (ROOT / "docs" / "site" / "mkdocs.yml").read_text(encoding="utf-8")
    assert f"notebooks/{path.name}" in menu
