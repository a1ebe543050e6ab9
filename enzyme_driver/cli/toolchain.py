"""`adgen toolchain`: install or show the tools that adgen drives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click

from enzyme_driver.cli import options, output
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain.values import EnzymeSource, Tool, Toolchain


@click.group("toolchain", invoke_without_command=True)
@options.common
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """Install or show the tools that adgen drives: clang, opt, ptxas, Enzyme, adgen's own passes. Alone: show."""
    options.run_alone(context, show, as_json=as_json)


@command.command("install")
@options.common
def install(*, as_json: bool) -> None:
    """Install what is missing: Debian packages (as root), the pinned Enzyme, adgen's own passes."""
    from enzyme_driver.toolchain.install import install as install_toolchain

    _print(install_toolchain(Settings.from_environment()), as_json=as_json)


@command.command("show")
@options.common
def show(*, as_json: bool) -> None:
    """Show the tools that a compilation would use; adgen's own passes are compiled if they are not up to date."""
    from enzyme_driver.toolchain import ensure

    _print(ensure(Settings.from_environment()), as_json=as_json)


def _print(toolchain: Toolchain, *, as_json: bool) -> None:
    rows = list(_rows(toolchain))
    if as_json:
        output.print_json(
            {name: {"path": path, "version": version, "found_by": by} for name, path, version, by in rows}
        )
        return
    from rich.table import Table

    table = Table()
    for column in ("part", "path", "version", "found by"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    output.console().print(table)


def _rows(toolchain: Toolchain) -> Iterator[tuple[str, str, str, str]]:
    for field in fields(toolchain):
        part = getattr(toolchain, field.name)
        name = field.name.replace("_", " ")
        if isinstance(part, Tool):
            yield name, str(part.path), part.version, part.found_by
        elif isinstance(part, EnzymeSource):
            yield f"{name} ({part.kind})", str(part.path), f"LLVM {part.llvm_major}", part.found_by
        elif isinstance(part, Path):
            yield name, str(part), "", ""
        elif part:
            yield name, " ".join(part), "", ""
