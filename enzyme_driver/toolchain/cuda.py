"""CUDA's headers, libdevice and ptxas: a root of the user's own, or out of Python packages of CUDA 13 or 12."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import tempfile
from collections.abc import Iterator
from pathlib import Path

from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import packages
from enzyme_driver.toolchain.folders import writable
from enzyme_driver.toolchain.values import Candidate, Problem

FILES = ("include/cuda_runtime.h", "include/crt/host_defines.h", "nvvm/libdevice/libdevice.10.bc")
"""What a CUDA root must hold, beside ptxas."""

HINT = 'run `make setup`, or `pip install "adgen[cuda13]"` ("adgen[cuda12]" for a driver that knows CUDA 12 only)'

_FOLDERS_OF_12 = ("cuda_nvcc", "cuda_runtime", "cuda_cccl", "curand")
"""Where the packages of CUDA 12 put their parts; those of CUDA 13 share one folder."""


def cuda_roots(settings: Settings) -> Iterator[Candidate]:
    """The user's CUDA root, or those of Python's site-packages; never a toolkit that happens to be installed."""
    if settings.cuda_path is not None:
        yield Candidate(settings.cuda_path, "ADGEN_CUDA_PATH")
        return
    package = importlib.util.find_spec("nvidia")
    folders = [Path(folder) for folder in (package.submodule_search_locations or ())] if package else []
    yield from (Candidate(folder / "cu13", packages.SITE_PACKAGES) for folder in folders)
    parts = [folder / part for part in _FOLDERS_OF_12 for folder in folders if (folder / part).is_dir()]
    if any((part / "bin" / "ptxas").is_file() for part in parts):
        yield Candidate(_joined(settings, parts), packages.SITE_PACKAGES)


def find_cuda_root(settings: Settings) -> Path | Problem:
    """The first CUDA root with headers, libdevice and, unless the user names another one, ptxas."""
    wanted = FILES if settings.ptxas or settings.cuda_path else (*FILES, "bin/ptxas")
    lacks = []
    for root in cuda_roots(settings):
        missing = [file for file in wanted if not (root.path / file).is_file()]
        if not missing:
            return root.path
        lacks.append(f"{root.path} ({root.found_by}) lacks {', '.join(missing)}")
    reason = f"no complete CUDA root: {'; '.join(lacks) or 'no package `nvidia` in site-packages'}"
    return Problem("CUDA root", reason, HINT)


def ptxas_candidates(settings: Settings) -> Iterator[Candidate]:
    """Of the root whose headers are used, else of any."""
    root = find_cuda_root(settings)
    for each in cuda_roots(settings):
        if isinstance(root, Problem) or each.path == root:
            yield Candidate(each.path / "bin" / "ptxas", each.found_by)


def _joined(settings: Settings, parts: list[Path]) -> Path:
    """One root of links to the parts, in adgen's data: clang and ptxas expect them in one folder.

    Where it cannot be made, the place where it would be: it then lacks everything.
    """
    words = [f"{part} {part.stat().st_mtime_ns}" for part in parts]
    root = settings.home / "cuda" / hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
    if root.is_dir():
        return root
    try:
        with tempfile.TemporaryDirectory(dir=writable(root.parent), prefix=".making-") as scratch:
            fresh = Path(scratch) / "out"
            for part in parts:
                for name in ("bin", "include", "nvvm"):
                    _link(part / name, fresh / name)
            fresh.rename(root)
    except (OSError, ToolchainError):
        return root  # another process may have made it meanwhile
    return root


def _link(source: Path, target: Path) -> None:
    """The links of a folder; a folder that two packages share becomes one of both."""
    target.mkdir(parents=True, exist_ok=True)
    for each in sorted(source.iterdir()) if source.is_dir() else ():
        link = target / each.name
        if each.is_dir() and link.is_symlink():
            first = link.resolve()
            link.unlink()
            _link(first, link)
        if each.is_dir() and link.is_dir():
            _link(each, link)
        elif not link.is_symlink():
            link.symlink_to(each)
