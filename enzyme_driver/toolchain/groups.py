"""Which C++ files of a room are compiled together, as one: what they instantiate of LLVM's headers is compiled once.

Only files that cannot change each other's meaning are: no name that a file keeps to itself may be one of another's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MOST = 10
"""Files in a group: more save little, and after a change of one all of them are compiled."""

_NAMED = re.compile(
    r"^(?!namespace|using namespace|template|extern)"
    r"(?:(?:struct|class|enum(?: class)?|union|using) (\w+)"
    r"|[A-Z_]+\((\w+)"
    r"|\w[^()=;{]*?[ *&](?<!::)(\w+)(?:\(|\[| =|;|\{))",
    re.MULTILINE,
)
"""What is declared at the beginning of a line: of a type, by a macro, as a function or a variable."""

_OWN = re.compile(r"^namespace \{$.*?^\} // namespace$|^static .*?$|^[A-Z_]+\(.*?$", re.MULTILINE | re.DOTALL)
"""Where a file declares what no other may see."""


@dataclass
class _Group:
    sources: list[Path] = field(default_factory=list)
    own: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)

    def takes(self, own: set[str], seen: set[str]) -> bool:
        return len(self.sources) < MOST and self.own.isdisjoint(seen) and self.seen.isdisjoint(own)

    def add(self, source: Path, own: set[str], seen: set[str]) -> None:
        self.sources.append(source)
        self.own |= own
        self.seen |= seen


def grouped(sources: Sequence[Path], headers_of: Callable[[Path], Sequence[Path]]) -> list[tuple[Path, ...]]:
    """The sources in groups, each of files of one folder, the larger groups first."""
    groups: dict[Path, list[_Group]] = {}
    names: dict[Path, set[str]] = {}
    for source in sources:
        text = source.read_text(encoding="utf-8")
        own = set().union(*(_names(part) for part in _OWN.findall(text)))
        headers = headers_of(source)
        for header in headers:
            if header not in names:
                names[header] = _names(header.read_text(encoding="utf-8"))
        seen = _names(text).union(*(names[header] for header in headers))
        room = groups.setdefault(source.parent, [])
        group = next((group for group in room if group.takes(own, seen)), None)
        if group is None:
            group = _Group()
            room.append(group)
        group.add(source, own, seen)
    found = [tuple(group.sources) for room in groups.values() for group in room]
    return sorted(found, key=lambda group: -sum(source.stat().st_size for source in group))


def _names(text: str) -> set[str]:
    return {name for found in _NAMED.findall(text) for name in found if name}
