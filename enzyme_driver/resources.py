"""Where adgen's own files lie: templates, and the C++ and CUDA sources that are compiled on the user's machine."""

from __future__ import annotations

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
    for folder in (PACKAGE / "operators", PACKAGE.parent / "cuda_kernels" / "operators"):
        if folder.is_dir():
            return folder
    raise ToolchainError(
        "adgen's tensor operators are missing: the installation is incomplete", hint="install adgen again with pip"
    )


def own_sources(room: str) -> tuple[Path, ...]:
    """Every file of one of the rooms `passes`, `worker`, `rules`, `host_runtime`, sorted by name."""
    return tuple(sorted(path for path in (PACKAGE / room).rglob("*") if path.is_file() and path.suffix != ".pyc"))
