"""Every code block of the tutorial and the how-to pages runs, and prints what the page says."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from documents import RUN, SAVED, blocks

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "docs" / "tutorial.md", *sorted((ROOT / "docs" / "howto").glob("*.md")))
OPTIONAL = {"pytorch.md": "torch"}
"""The page that needs a package which `make setup` does not install."""


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_runs(page: Path, tmp_path: Path) -> None:
    package = OPTIONAL.get(page.name)
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    folder, programs = tmp_path / "here", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    adgen = programs / "adgen"
    adgen.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m adgen "$@"\n', encoding="utf-8")
    adgen.chmod(0o755)
    search = os.pathsep.join([str(programs), os.environ["PATH"]])
    environment = {**os.environ, "ADGEN_CACHE_DIR": str(tmp_path / "cache"), "PATH": search, "OMP_NUM_THREADS": "2"}
    runner = ROOT / "tests" / "documents.py"
    done = subprocess.run(
        [sys.executable, runner, page], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_is_run_or_saved(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = blocks(text)
    assert {block.language for block in found} <= {*RUN, *SAVED}
    assert all(block.text.startswith("// ") for block in found if block.language in SAVED)
    assert text.count("\n```\n") == len(found) + sum(block.output is not None for block in found)
