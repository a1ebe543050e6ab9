"""The instruction set of host libraries."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from enzyme_driver import processor


def _machine(monkeypatch: pytest.MonkeyPatch, flags: str, kind: str = "x86_64") -> None:
    monkeypatch.setattr(platform, "machine", lambda: kind)
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: f"flags : {flags}\n")


def test_the_baseline_needs_all_extensions(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, "sse2 avx avx2 fma f16c bmi1 bmi2")
    assert processor.baseline() == "x86-64-v3"
    assert processor.fuses()
    _machine(monkeypatch, "sse2 avx avx2 f16c bmi1 bmi2")
    assert processor.baseline() == "x86-64"


@pytest.mark.parametrize(
    ("library", "flags", "bits"),
    [
        (("glibc", "2.36"), "avx2 fma f16c bmi2", 256),
        (("glibc", "2.35"), "sse2", 128),
        (("glibc", "2.31"), "avx2 fma f16c bmi2", 0),
        (("", ""), "avx2 fma f16c bmi2", 0),
    ],
)
def test_the_width_of_vector_mathematics(
    library: tuple[str, str], flags: str, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _machine(monkeypatch, flags)
    monkeypatch.setattr(platform, "libc_ver", lambda: library)
    assert processor.bits_of_vector_math() == bits


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


def test_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, "fp asimd", "aarch64")
    monkeypatch.setattr(platform, "libc_ver", lambda: ("glibc", "2.36"))
    assert processor.baseline() == "armv8-a"
    assert processor.for_llvm(processor.baseline()) == "generic"
    assert processor.machine().triple.startswith("aarch64-")
    assert processor.bits_of_vector_math() == 0
    assert processor.runs("armv8-a")
    assert not processor.runs("x86-64")


def test_libraries_for_arm_are_not_run_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, "sse2")
    assert not processor.runs("armv8-a")
