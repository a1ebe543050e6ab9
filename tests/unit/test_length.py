"""No source file of the project is so long that it holds more than one thing."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = 500
FOLDERS = ("enzyme_driver", "adgen", "benchmarks", "cuda_kernels", "docs", "examples", "tests")
KINDS = {".py", ".cpp", ".h", ".hpp", ".cu", ".cuh", ".c", ".j2", ".def", ".pyi"}


def sources() -> list[Path]:
    found = [path for name in FOLDERS for path in sorted((ROOT / name).rglob("*")) if path.suffix in KINDS]
    return [path for path in found if not {"__pycache__", "built"} & set(path.parts)]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_source_file_has_at_most_500_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_there_are_sources() -> None:
    assert len(sources()) > 500
