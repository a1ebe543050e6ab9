"""Every construct of docs/coverage.md: the gradient is right, or refused with its reason, and the page says so."""

from __future__ import annotations

import re
import secrets

import numpy as np
import pytest
from constructs.construct import FOLDER, SourceFile
from constructs.on_gpu import right
from constructs.outcome import compiled, outcomes
from constructs.page import PAGE, introduction, public, section
from constructs.table import FILES


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_constructs(file: SourceFile) -> None:
    seed = secrets.randbits(31)
    found = list(outcomes(file, seed))
    assert not [outcome for outcome in found if not outcome.as_expected], f"seed {seed}"
    assert section(file, found) in PAGE.read_text(encoding="utf-8"), "run docs/make_coverage.py"


def test_the_page_is_complete() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(introduction()), "run docs/make_coverage.py"
    assert text.endswith(public()), "run docs/make_coverage.py"
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [*(file.title for file in FILES), "Public programs"]


def test_most_constructs_are_differentiated() -> None:
    constructs = [construct for file in FILES for construct in file.constructs]
    assert len(constructs) >= 150
    unread = [construct for file in FILES if file.name in {"missing.cu", "dialect.cu"} for construct in file.constructs]
    assert sum(bool(construct.refused) for construct in constructs if construct not in unread) <= 15


def test_every_file_is_in_the_table() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.suffix in {".cu", ".cpp"}} == {file.name for file in FILES}


@pytest.mark.usefixtures("toolchain")
def test_what_is_right_on_a_target_is_listed() -> None:
    file = next(file for file in FILES if file.name == "hardware.cu")
    assert right(file, compiled(file), "openmp", np.asarray) == ["sleeping", "texture", "surface", "named_barrier"]
