"""Instruction sets of the host: what its libraries are compiled for, and whether this machine runs them."""

from __future__ import annotations

import platform
from pathlib import Path

PLAIN = "x86-64"
_AVX2 = "x86-64-v3"
_NEEDED = {_AVX2: {"avx2", "fma", "bmi2", "f16c"}}
_GLIBC = (2, 35)
"""Since then its vector library has all of the mathematics that `adgen-vector-math` knows."""


def baseline() -> str:
    """With AVX2 where this machine has it, so that a library runs on most others."""
    return _AVX2 if runs(_AVX2) else PLAIN


def bits_of_vector_math() -> int:
    """How wide the vectors are that the C library takes, for the baseline; 0 where it takes none."""
    library, version = platform.libc_ver()
    has_it = library == "glibc" and tuple(map(int, version.split(".")[:2])) >= _GLIBC
    return (256 if baseline() == _AVX2 else 128) if has_it else 0


def runs(cpu: str) -> bool:
    """Whether this machine runs code for that instruction set, as far as it can be known."""
    needed = _NEEDED.get(cpu, set())
    try:
        return not needed or set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split()) >= needed
    except OSError:
        return False
