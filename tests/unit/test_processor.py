"""The instruction set of host libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from enzyme_driver import processor


def _machine(monkeypatch: pytest.MonkeyPatch, flags: str) -> None:
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: f"flags : {flags}\n")


def test_the_baseline_needs_all_extensions(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, "sse2 avx avx2 fma f16c bmi1 bmi2")
    assert processor.baseline() == "x86-64-v3"
    _machine(monkeypatch, "sse2 avx avx2 f16c bmi1 bmi2")
    assert processor.baseline() == "x86-64"


def test_what_a_machine_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, "sse2")
    assert processor.runs("x86-64")
    assert not processor.runs("x86-64-v3")


def test_a_machine_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(*_: object, **__: object) -> str:
        raise PermissionError

    monkeypatch.setattr(Path, "read_text", unreadable)
    assert processor.baseline() == "x86-64"
    assert processor.runs("x86-64")
