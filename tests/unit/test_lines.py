"""Lines of documents, Python and C++ end at 120 columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 120
FOLDERS = (".ci", "benchmarks", "cuda_kernels", "docs", "enzyme_driver", "examples", "templates", "tests")
CXX = ("passes", "worker", "host_runtime", "frameworks", "include")
"""The folders of enzyme_driver with C++ of adgen's own; the programs in the tests are as users write them."""
BUILT = {"build"}
"""Folders of what was made here."""
PRAGMA = re.compile(r"  # (?:noqa|type): ?.*$")
SHOWN = ("how-it-works.md", "how-it-works.md.j2")
"""Documents whose blocks are compilers' output."""


def documents() -> list[Path]:
    return [*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))]


def sources() -> list[Path]:
    python = [
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if not BUILT & {*path.relative_to(ROOT).parts}
    ]
    rooms = [ROOT / "enzyme_driver" / room for room in CXX]
    return [*python, *(path for room in rooms for end in ("cpp", "h") for path in room.rglob(f"*.{end}"))]


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """A document's numbered lines, without tables, lines of one word (a long link), and compilers' output."""
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        inside ^= line.startswith("```")
        if not (line.startswith("|") or " " not in line.strip() or (inside and path.name in SHOWN)):
            yield number, line


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_keeps_to_the_columns(path: Path) -> None:
    assert [number for number, line in prose(path) if len(line) > COLUMNS] == []


def test_sources_keep_to_the_columns() -> None:
    found = sources()
    assert len(found) > 500
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in found
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(PRAGMA.sub("", line)) > COLUMNS
    ]
    assert long == []
