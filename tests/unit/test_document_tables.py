"""The tables of measured figures in documents are those of the committed data."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks import document_tables

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("name", document_tables.PAGES)
def test_the_tables_are_those_of_the_data(name: str) -> None:
    text = (document_tables.DOCUMENTS / name).read_text(encoding="utf-8")
    assert document_tables.PLACE.search(text)
    assert document_tables.page(text) == text, "run python -m benchmarks.document_tables"


def test_other_data_make_another_table(tmp_path: Path) -> None:
    """And nothing around it changes."""
    results = shutil.copytree(document_tables.RESULTS, tmp_path / "results")
    found = json.loads((results / "lr.json").read_text(encoding="utf-8"))
    found["rows"][0]["epoch_seconds"] *= 2
    (results / "lr.json").write_text(json.dumps(found), encoding="utf-8")
    text = "before\n<!-- table methods -->\n<!-- end -->\nbehind\n"
    ours, other = document_tables.page(text), document_tables.page(text, results)
    assert ours != other
    assert ours.startswith("before\n<!-- table methods -->\n| model |")
    assert ours.endswith("\n<!-- end -->\nbehind\n")
