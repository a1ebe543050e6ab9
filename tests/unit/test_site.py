"""The documentation site builds without a warning, and every document is in its menu."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the packages of the extra docs are not installed")
    configuration = ROOT / "docs" / "site" / "mkdocs.yml"
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(configuration)]
    command += ["--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "compile" in (tmp_path / "site" / "reference.html").read_text(encoding="utf-8")
    assert 'href="docs/' not in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
