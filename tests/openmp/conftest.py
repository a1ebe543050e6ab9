"""What the tests of the OpenMP target share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A CUDA file with what the test's module calls SOURCE."""
    path = tmp_path / f"{request.module.__name__.rpartition('test_')[2]}.cu"
    path.write_text(request.module.SOURCE, encoding="utf-8")
    return path
