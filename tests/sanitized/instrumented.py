"""adgen's passes as AddressSanitizer and UndefinedBehaviorSanitizer see them, in an `opt` that is not instrumented."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

from enzyme_driver import command
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import Tool, Toolchain, ensure
from enzyme_driver.toolchain.build import build
from enzyme_driver.toolchain.find import compilers, look, remembered
from enzyme_driver.toolchain.progress import OnStderr

FLAGS = (
    *("-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-g1"),
    "-fno-sanitize=vptr,function",  # LLVM is compiled without run-time types
)

RUNTIMES = ("libasan.so", "libubsan.so")

OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:detect_container_overflow=0:detect_odr_violation=0",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}
"""opt ends without freeing its modules, and containers grow in LLVM, which tells AddressSanitizer nothing of it."""


def instrumented(settings: Settings, scratch: Path) -> Toolchain:
    """The toolchain with instrumented passes, and an opt that has the sanitizers' run time libraries loaded."""
    toolchain = ensure(settings)
    parts = look(settings, remembered(settings), command.run)
    own = build(settings, replace(compilers(parts), extra=FLAGS), command.run, OnStderr())
    wrapper = scratch / "opt"
    wrapper.write_text(_wrapper(toolchain), encoding="utf-8")
    wrapper.chmod(0o755)
    return replace(toolchain, opt=replace(toolchain.opt, path=wrapper), passes=own.passes)


def _wrapper(toolchain: Toolchain) -> str:
    loaded = " ".join(str(_library(toolchain.clang, name)) for name in RUNTIMES)
    words = [f"{name}={value}" for name, value in (OPTIONS | {"LD_PRELOAD": loaded}).items()]
    return f'#!/bin/sh\nexec env {shlex.join(words)} {shlex.quote(str(toolchain.opt.path))} "$@"\n'


def _library(clang: Tool, name: str) -> Path:
    """A run time library of the GCC whose headers clang uses."""
    asked = [str(clang.path), f"-print-file-name={name}"]
    answer = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    return Path(answer).resolve(strict=True)
