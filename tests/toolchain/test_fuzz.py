"""Any input of the front ends in an error of a documented class; `python -m fuzz` goes on for longer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fuzz.front import commanded, compiled, loaded
from fuzz.inputs import changed, command_lines, documents, sources
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runtime_support import written_artifact

QUICK = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_artifact(tmp_path_factory.mktemp("fuzz")).folder


@pytest.mark.usefixtures("toolchain")
@settings(QUICK, max_examples=12)
@given(source=sources(), suffix=st.sampled_from([".cu", ".cpp"]))
def test_any_source(tmp_path: Path, source: bytes, suffix: str) -> None:
    assert compiled(source, tmp_path, suffix) is None


@QUICK
@given(words=command_lines())
def test_any_arguments(tmp_path: Path, words: list[str]) -> None:
    assert commanded(words, tmp_path) is None


@QUICK
@given(data=st.data())
def test_any_manifest(tmp_path: Path, artifact: Path, data: st.DataObject) -> None:
    manifest: Any = json.loads((artifact / "manifest.json").read_text(encoding="utf-8"))
    assert loaded(data.draw(st.one_of(changed(manifest), documents())), artifact, tmp_path) is None
