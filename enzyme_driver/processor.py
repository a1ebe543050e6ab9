"""Instruction sets of the host: what its libraries are compiled for, and whether this machine runs them."""

from __future__ import annotations

from pathlib import Path

PLAIN = "x86-64"
_AVX2 = "x86-64-v3"
_NEEDED = {_AVX2: {"avx2", "fma", "bmi2", "f16c"}}


def baseline() -> str:
    """With AVX2 where this machine has it, so that a library runs on most others."""
    return _AVX2 if runs(_AVX2) else PLAIN


def runs(cpu: str) -> bool:
    """Whether this machine runs code for that instruction set, as far as it can be known."""
    needed = _NEEDED.get(cpu, set())
    try:
        return not needed or set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split()) >= needed
    except OSError:
        return False
