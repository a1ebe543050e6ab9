"""What a compilation is at, in the user's words: which tool runs, and which function it likely takes longest for."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

Say = Callable[[str], None]

MODULES = frozenset({".ll", ".bc", ".ptx"})
"""How the files end that tools are given."""
_DOES = {
    "clang": "clang reads {of}",
    "describe": "opt looks at the signatures of {of}",
    "enzyme": "Enzyme differentiates {of}",
    "verify": "opt looks at the gradients of {of}",
    "ptxas": "ptxas assembles {of}",
    "emit": "machine code is made of {of}",
    "link": "clang links {of}",
}
_BEGIN = re.compile(
    rb'^(?:define [^@\n]*@"?([^"(\s]+)|(?:\.visible |\.weak )?\.(?:entry|func) *(?:\([^)]*\) *)?(\w+))', re.MULTILINE
)
_PREFIX = re.compile(r"^(?:augmented_|diffe|fwddiffe|preprocess_)*adgen_body_|^__enzyme_\w+?_adgen_body_")
_RULE = re.compile(r"adgen_(?!body_)")
_NAME = re.compile(r"_ZN?(?=\d)")


@dataclass(frozen=True)
class Running:
    """The tools of a compilation that run now; `say` is told what the latest of them does, and what takes long."""

    say: Say = lambda _: None
    patience: float = 10.0
    _texts: list[str] = field(default_factory=list)

    @contextmanager
    def doing(self, name: str, files: Sequence[Path]) -> Iterator[None]:
        text, ended = _told(name, "the file"), Event()
        self._texts.append(text)
        self.say(text)
        watch = Thread(target=self._watch, args=(name, files, ended), daemon=True)
        watch.start()
        try:
            yield
        finally:
            ended.set()
            watch.join()
            self._texts.remove(text)
            if self._texts:
                self.say(self._texts[-1])

    def _watch(self, name: str, files: Sequence[Path], ended: Event) -> None:
        """Say more and more seldom that it still runs."""
        start, wait, text = time.monotonic(), self.patience, ""
        while not ended.wait(wait):
            text = text or in_full(name, files)
            self.say(f"{text} ({time.monotonic() - start:.0f} s)")
            wait *= 2


def in_full(name: str, files: Sequence[Path]) -> str:
    """What a tool does with the first module among these files, and what is longest in it."""
    module = next((file for file in files if file.suffix in MODULES and file.is_file()), None)
    return _told(name, _of(module) if module else "the file")


def _told(name: str, of: str) -> str:
    return _DOES.get(name, f"{name}: opt rewrites {{of}}").format(of=of)


def _of(module: Path) -> str:
    text = module.read_bytes() if module.suffix != ".bc" else b""
    begins = list(_BEGIN.finditer(text))
    places = [each.start() for each in begins] + [len(text)]
    names = [(each[1] or each[2]).decode(errors="replace") for each in begins]
    functions = [each for each in zip(names, places, places[1:], strict=False) if not _RULE.match(each[0])]
    if not functions:
        return module.name.partition(".")[0]
    name, begin, end = max(functions, key=lambda each: each[2] - each[1])
    lines = text.count(b"\n", begin, end)
    return f"{readable(name)} ({lines:,} lines) and {len(functions) - 1} more"


def readable(symbol: str) -> str:
    """The name of the kernel or function that a symbol is of, as far as that is seen at a glance."""
    own = _PREFIX.sub("", symbol)
    begin = _NAME.match(own)
    if not begin:
        return own
    names, rest = [], own[begin.end() :]
    while found := re.match(r"\d+", rest):
        end = found.end() + int(found[0])
        names.append(rest[found.end() : end])
        rest = rest[end:]
        if begin[0] == "_Z":
            break
    return "::".join(names)
