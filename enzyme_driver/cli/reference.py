"""docs/cli.md and docs/errors.md, made from the code: `python -m enzyme_driver.cli.reference docs`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from enzyme_driver.cli import adgen
from enzyme_driver.errors import ALL_ERRORS

_WIDTH = 100

_CLI = """# The command line

Made from the command's own help by `python -m enzyme_driver.cli.reference docs`.

Results go to standard output, everything else (progress, warnings, errors) to standard error. With `--json` the result
is JSON, and so is an error, also on standard output. There is no colour where there is no terminal, and none
with `NO_COLOR` set. The exit code is 0, or one of those in [errors.md](errors.md). The variables that adgen reads are
in [settings.md](settings.md). A compilation that takes long says which tool runs, and which kernel is the longest in
what it is given: on a terminal as it goes, elsewhere after 15 s and then more and more seldom, and at ctrl-C.
"""

_ERRORS = """# Errors and exit codes

Made from `enzyme_driver/errors.py` by `python -m enzyme_driver.cli.reference docs`.

Every foreseeable failure is one of these classes (`enzyme_driver.SourceError`, ...), all of them subclasses of
`enzyme_driver.AdgenError`. An error says what is wrong (`reason`), where (`location`: file, line, column), what to do
(`hint`), and where the failed tool's full output is (`log`). The command line prints that without a Python traceback
(`--debug` shows it too) and ends with the exit code; with `--json` it prints an object with the keys `error`,
`exit_code`, `reason`, `hint`, `file`, `line`, `column` and `log`. Nothing half-written is left behind.

| exit code | class | `error` | also a | when |
|---|---|---|---|---|
"""

_OTHER_CODES = """
0 is success, and 130 that the user interrupted. An `AdgenError` that is none of the others is a fault of adgen's own:
please report it with what `--debug` prints.
"""


def cli_page() -> str:
    """The help of every command."""
    parts = [_CLI, *(f"\n## `{name}`\n\n```\n{text}\n```\n" for name, text in _helps("adgen", adgen))]
    return "".join(parts)


def _helps(path: str, command: click.Command, parent: click.Context | None = None) -> Iterator[tuple[str, str]]:
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent, max_content_width=_WIDTH)
    context.terminal_width = _WIDTH
    context.help_option_names = ["-h", "--help"]
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _helps(f"{path} {name}", inner, context)


def errors_page() -> str:
    """One row a class."""
    rows = []
    for kind in ALL_ERRORS:
        builtin = [base.__name__ for base in kind.__mro__ if base.__module__ == "builtins"]
        also = ", ".join(f"`{name}`" for name in builtin if name not in {"Exception", "BaseException", "object"})
        when = " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
        rows.append(f"| {kind.exit_code} | `{kind.__name__}` | `{kind.kind}` | {also} | {when} |\n")
    return _ERRORS + "".join(rows) + _OTHER_CODES


PAGES = {"cli.md": cli_page, "errors.md": errors_page}

if __name__ == "__main__":
    for file_name, page in PAGES.items():
        Path(sys.argv[1], file_name).write_text(page(), encoding="utf-8")
