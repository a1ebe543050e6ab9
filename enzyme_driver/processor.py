"""The host's processor: what its libraries are compiled for, and whether this machine runs them."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path

PLAIN = "x86-64"
_AVX2 = "x86-64-v3"
_ARM = "armv8-a"

_NEEDED = {_AVX2: {"avx2", "fma", "bmi2", "f16c"}}
_GLIBC = (2, 35)
"""Since then its vector library has all of the mathematics that `adgen-vector-math` knows, on x86-64."""


@dataclass(frozen=True)
class Machine:
    """A kind of machine as LLVM names it, and the instruction set that all of the kind have."""

    triple: str
    layout: str
    plain: str


_MACHINES = {
    "x86_64": Machine(
        "x86_64-pc-linux-gnu",
        "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
        PLAIN,
    ),
    "aarch64": Machine(
        "aarch64-unknown-linux-gnu",
        "e-m:e-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32",
        _ARM,
    ),
}


def machine() -> Machine:
    """This machine's kind; on another one nothing is compiled for the host (`check_system`)."""
    return _MACHINES.get(platform.machine(), _MACHINES["x86_64"])


def baseline() -> str:
    """With AVX2 where this machine has it, so that a library runs on most others."""
    return _AVX2 if runs(_AVX2) else machine().plain


def for_llvm(cpu: str) -> str:
    """The name by which LLVM's `-mcpu` takes an instruction set."""
    return "generic" if cpu == _ARM else cpu


def fuses() -> bool:
    """Whether a product and a sum are one instruction there, whose result is rounded once."""
    return baseline() != PLAIN


def bits_of_vector_math() -> int:
    """How wide the vectors are that the C library takes, for the baseline; 0 where it takes none."""
    library, version = platform.libc_ver()
    has_it = library == "glibc" and tuple(map(int, version.split(".")[:2])) >= _GLIBC
    return {_AVX2: 256, PLAIN: 128}.get(baseline(), 0) if has_it else 0


def runs(cpu: str) -> bool:
    """Whether this machine runs code for that instruction set, as far as it can be known."""
    if (cpu == _ARM) != (machine().plain == _ARM):
        return False
    needed = _NEEDED.get(cpu, set())
    try:
        return not needed or set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split()) >= needed
    except OSError:
        return False
