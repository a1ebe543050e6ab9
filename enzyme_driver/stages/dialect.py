"""What nvcc reads and clang does not, put into clang's words; every line stays where it is, and so do columns where
nothing is added."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_NVCC = re.compile(r"^(?P<condition>[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b(?:\\\n|[^\n])*)", re.MULTILINE)
_OPENED = re.compile(r"(?<=[\w>])(?P<before>\s*)(?:<<[ \t]+<|<[ \t]+<<|<[ \t]+<[ \t]+<)(?!<)")
_CLOSED = re.compile(r"(?:>>[ \t]+>|>[ \t]+>>|>[ \t]+>[ \t]+>)(?P<after>\s*\()")
_MEMBER = re.compile(r">\s*::\s*(?=[A-Za-z_]\w*\s*<)")
_SHARED = re.compile(r"\b__shared__\b")
_BESIDE = re.compile(r"\b(?:__shared__|static|__align__\s*\([^()]*\)|alignas\s*\([^()]*(?:\([^()]*\))?[^()]*\))\s*")
_DECLARATOR = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?P<extents>(?:\[[^][]*(?:\[[^][]*\][^][]*)*\]\s*)*)")


def in_words_of_clang(text: str) -> str:
    """The text with launches in one word, `<<<`, and as if clang were asked for where nvcc is."""
    if "__NVCC__" in text:
        text = _NVCC.sub(lambda found: re.sub(r"\b__NVCC__\b", "__CUDACC__", found[0]), text)
    if _OPENED.search(text):
        text = _CLOSED.sub(lambda found: _joined(found[0].removesuffix(found["after"])) + found["after"], text)
        text = _OPENED.sub(lambda found: found["before"] + _joined(found[0].removeprefix(found["before"])), text)
    return text


def without_static(text: str, places: Iterable[tuple[int, int]]) -> str:
    """The text without the `static` of the functions whose names stand at these lines and columns."""
    for at in _starts(text, places):
        head = max(text.rfind(sign, 0, at) for sign in ";{}") + 1
        text = text[:head] + re.sub(r"\bstatic\b", " " * len("static"), text[head:at]) + text[at:]
    return text


def with_template(text: str, places: Iterable[tuple[int, int]]) -> str:
    """The text with `template` before the members at these lines and columns, or the first ones behind them, that are
    called with arguments of a template in a class that a parameter decides: `A<T>::template f<n>(x)`."""
    for at in sorted(_starts(text, places), reverse=True):
        members = _MEMBER.finditer(text, max(text.rfind(sign, 0, at) for sign in ";{}") + 1)
        end = next((member.end() for member in members if member.end() >= at), None)
        if end is not None:
            text = text[:end] + "template " + text[end:]
    return text


def without_constructors(text: str, places: Iterable[tuple[int, int]]) -> str:
    """The text with room in the place of the shared variables of these lines and columns, whose constructors nvcc does
    not run: `__shared__ A a[2]` becomes room for an A[2], and a reference to it."""
    firsts: dict[int, int] = {}  # of the variables of one declaration
    for at in sorted(_starts(text, places), reverse=True):
        firsts[max(text.rfind(sign, 0, at) for sign in ";{}") + 1] = at
    for head, at in firsts.items():
        words, end = _SHARED.search(text, head, at), text.find(";", at)
        if words and end > at:
            text = text[: words.start()] + _in_room(text[words.start() : at], text[at:end]) + text[end:]
    return text


def _in_room(before: str, declared: str) -> str:
    """What is `declared` after the words `before` it, unless it is given a value."""
    declarators = list(_declarators(declared))
    if "".join(found[0] for found in declarators) != declared.replace(",", ""):
        return before + declared
    kept, kind = "".join(_BESIDE.findall(before)), _BESIDE.sub("", before).strip()
    rooms = [
        f"{kept}adgen_room<{kind}{found['extents'].strip()}> adgen_room_{found['name']}; "
        f"auto &{found['name']} = adgen_room_{found['name']}.value"
        for found in declarators
    ]
    return "; ".join(rooms) + "\n" * (before + declared).count("\n")


def _declarators(declared: str) -> Iterator[re.Match[str]]:
    at = 0
    while found := _DECLARATOR.match(declared, at):
        yield found
        at = found.end() + 1  # behind a comma


def _starts(text: str, places: Iterable[tuple[int, int]]) -> set[int]:
    lines = [0, *(found.end() for found in re.finditer(r"\n", text))]
    return {lines[line - 1] + column - 1 for line, column in places}


def _joined(signs: str) -> str:
    """The signs in one word, as wide as they were."""
    return "".join(signs.split()).ljust(len(signs))
