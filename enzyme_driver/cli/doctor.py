"""`adgen doctor`: each tool, how it was found, whether it fits, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from enzyme_driver.cli import options, output
from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings

if TYPE_CHECKING:
    from rich.table import Table

    from enzyme_driver.toolchain.doctor import Finding


@click.command("doctor")
@options.common
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """Look at every tool that adgen needs; nothing is installed. The exit code is 0 if adgen can compile."""
    from enzyme_driver.toolchain.doctor import doctor

    findings = doctor(Settings.from_environment())
    if as_json:
        output.print_json([asdict(finding) for finding in findings])
    else:
        _show(findings)
    if any(finding.required and not finding.ok for finding in findings):
        context.exit(ToolchainError.exit_code)


def _show(findings: Sequence[Finding]) -> None:
    console = output.console()
    console.print(_table(findings))
    for finding in findings:
        if not finding.ok:
            console.print(f"{finding.part}: {finding.problem}")
            console.print(f"  what to do: {finding.hint}")


def _table(findings: Sequence[Finding]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for column in ("part", "", "version", "found by", "path"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        state = Text("ok", "green") if finding.ok else Text("missing" if finding.required else "optional", "red")
        table.add_row(finding.part, state, finding.version, finding.found_by, finding.path)
    return table
