"""Where adgen's own files lie: templates, and the C++ and CUDA sources that are compiled on the user's machine."""

from __future__ import annotations

import os
from pathlib import Path

from enzyme_driver.errors import ToolchainError

PACKAGE = Path(__file__).resolve().parent


def templates() -> Path:
    """The folder of the jinja2 templates: in the package when installed from a wheel, beside it in a checkout."""
    for folder in (PACKAGE / "templates", PACKAGE.parent / "templates"):
        if folder.is_dir():
            return folder
    raise ToolchainError(
        "adgen's templates are missing: the installation is incomplete", hint="install adgen again with pip"
    )


def operators() -> Path:
    """The folder of the tensor operators' CUDA files, found like the templates."""
    return _cuda_files("operators")


def primitives() -> Path:
    """The folder of the networks' primitives, found like the templates."""
    return _cuda_files("primitives")


def _cuda_files(name: str) -> Path:
    for folder in (PACKAGE / name, PACKAGE.parent / "cuda_kernels" / name):
        if folder.is_dir():
            return folder
    raise ToolchainError(
        f"adgen's {name} are missing: the installation is incomplete", hint="install adgen again with pip"
    )


def own_sources(room: str) -> tuple[Path, ...]:
    """Every file, sorted by name, of a room: `passes`, `worker`, `rules`, `host_runtime`, `frameworks/native`."""
    found = (
        os.path.join(folder, name)  # noqa: PTH118  (each start of adgen asks: Path takes three times as long)
        for folder, _, names in os.walk(PACKAGE / room)
        for name in names
        if not name.endswith(".pyc")
    )
    return tuple(map(Path, sorted(found)))
