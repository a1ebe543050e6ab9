"""The headers that a CUDA file includes first, compiled once for all the times that the file is read.

They are most of what clang reads, and stay as they are while what is wrong in the user's files is left out. So they end
where the user's own files begin. The file includes them again, where their guards make nothing of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path, PurePath

from enzyme_driver.command import Completed
from enzyme_driver.stages.host_code import HostCode
from enzyme_driver.stages.source import Source
from enzyme_driver.stages.workspace import Workspace

_INCLUDE = re.compile(r'\s*#\s*include\s*[<"](?P<name>[^>"]+)[>"]\s*')
_ONCE_OR_TWICE = re.compile(r"\s*#\s*(define\s+[A-Za-z_]\w*(\s[^\n]*)?|pragma\s+once\s*)")
"""What may be said again: a macro with the same text is the same macro."""


@dataclass(frozen=True)
class Prefix:
    """`file` is what `-include-pch` takes, `rule` names what was read for it."""

    file: Path
    rule: Path

    def add_to(self, rule: Path) -> None:
        """Name it in the rule of a file that was read behind it."""
        if rule.exists():
            said, read = (each.read_text(encoding="utf-8") for each in (rule, self.rule))
            rule.write_text(f"{said.rstrip()} \\\n {read.partition(': ')[2]}", encoding="utf-8")


def compiled(
    source: Source,
    text: HostCode,
    known: Path,
    workspace: Workspace,
    clang: Callable[..., Completed],
    flags: Collection[str | Path],
    users: Callable[[Path], Collection[Path]],
) -> Prefix | None:
    """What the file includes first, compiled; None where that is nothing, or not without errors, also a second time.

    `users` gives the user's files in a rule: those in `known`, which clang has written of the file where it got through
    it, say where they begin.
    """
    begin = _begin(text, source.path.parent, users(known))
    if not any(map(_INCLUDE.fullmatch, begin)):
        return None
    header, file, rule = (workspace.file(f"{source.stem}.first.{end}") for end in ("h", "pch", "d"))
    header.write_text("".join(f"{line}\n" for line in begin), encoding="latin-1")
    done = clang("-Xclang", "-emit-pch", *flags, "-S", "-emit-llvm", "-MD", "-MF", rule, header, "-o", file)
    if not done.ok or done.stderr or users(rule):
        return None
    again = clang("-fsyntax-only", *flags, header, behind=file)
    return Prefix(file, rule) if again.ok and not again.stderr else None


def _begin(text: HostCode, folder: Path, users: Collection[Path]) -> list[str]:
    """The directives that the file begins with, up to the first that is not known to do the same twice."""
    found: list[str] = []
    for directive in text.first_directives:
        include = _INCLUDE.fullmatch(directive)
        name = include["name"] if include else ""
        if name and ((folder / name).exists() or any(_is_called(each, name) for each in users)):
            break
        if not name and not _ONCE_OR_TWICE.fullmatch(directive):
            break
        found.append(directive)
    return found


def _is_called(path: Path, name: str) -> bool:
    words = [part for part in PurePath(name).parts if part not in {".", ".."}]
    return list(path.parts[-len(words) :]) == words
