"""The rows of passes/Passes.def: what each of adgen's LLVM passes is called, and whether it can be left out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from enzyme_driver import resources
from enzyme_driver.errors import ToolchainError

PREFIX = "adgen-"
"""Of the name of every pass."""

_TEXT = r'"([^"]*)"'
_ROW = re.compile(
    rf"^ADGEN_PASS\((\w+),\s*{_TEXT},\s*(Plain|Option),\s*(\w+),\s*(Required|Optional),\s*{_TEXT}\)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Row:
    """A pass as Passes.def has it.

    `takes_option` says that text may follow its name between < and >, `optional` that a gradient is right without it.
    `folder` is where its file lies in passes/, `summary` says what it does.
    """

    pass_class: str
    name: str
    takes_option: bool
    folder: str
    optional: bool
    summary: str


@cache
def rows() -> tuple[Row, ...]:
    """All rows, in the order of the file. Raises ToolchainError where it is missing or holds none."""
    path = resources.PACKAGE / "passes" / "Passes.def"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = tuple(
        Row(made, name, takes == "Option", folder, need == "Optional", summary)
        for made, name, takes, folder, need, summary in _ROW.findall(text)
    )
    if not found:
        raise ToolchainError("adgen's list of passes is missing", hint="install adgen again with pip")
    return found


@cache
def by_name() -> dict[str, Row]:
    return {row.name: row for row in rows()}
