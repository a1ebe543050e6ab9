"""Writes a kernel down in another way: its lines are those of `grammar`, a statement each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TypeAlias

from random_programs.grammar import Written

Lines: TypeAlias = list[str]

_FOR = re.compile(r"^(\s*)for \(([^;]*); ([^;]*); ([^;{}()]*)\) \{$")
_DECLARES = re.compile(r"\s*[\w:<>]+ \w+ =")
_PLAIN = re.compile(r"^\s*(?!else |return )(?:\w+ )?(\w+) ([-+*/]?=) [^;]*;$")
_NEXT = re.compile(r", (\w+) = ")
_LOAD = re.compile(r"\b[xw]\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)?\]")
_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST = 6


def mutated(kernel: Written, seed: int) -> Written:
    """Some of its lines changed without what it computes: loops, conditions, order, types, blocks, qualifiers."""
    rng = Random(seed)
    lines = kernel.source.splitlines()
    for _ in range(rng.randint(2, _MOST)):
        lines = rng.choice(_WAYS)(rng, lines)
    source, real = "\n".join((*lines, "")), kernel.real
    if rng.random() < 0.3:
        real = "float" if real == "double" else "double"
        source = re.sub(rf"\b{kernel.real}\b", real, source)
    return replace(kernel, source=source, real=real)


def _end(lines: Lines, start: int) -> int:
    """The line of the brace that closes what the line opens."""
    depth = 0
    for at in range(start, len(lines)):
        depth += lines[at].count("{") - lines[at].count("}")
        if depth == 0:
            return at
    return len(lines) - 1


def _somewhere(rng: Random, lines: Lines, fits: Callable[[int], bool]) -> int:
    """A line behind the head that fits, or 0."""
    return rng.choice([at for at in range(2, len(lines)) if fits(at)] or [0])


def _while(rng: Random, lines: Lines) -> Lines:
    def fits(at: int) -> bool:
        body = lines[at : _end(lines, at)]
        alone = _follows(lines, at) and not any("continue;" in each for each in body)
        return alone and bool(_FOR.match(lines[at]))

    at = _somewhere(rng, lines, fits)
    loop = _FOR.match(lines[at])
    if not loop:
        return lines
    end, (indent, first, condition, step) = _end(lines, at), loop.groups()
    opened = [f"{indent}{{", f"{indent}{first};", f"{indent}while ({condition or 'true'}) {{"]
    closed = [f"{indent}{step};", f"{indent}}}", f"{indent}}}"]
    return [*lines[:at], *opened, *lines[at + 1 : end], *closed, *lines[end + 1 :]]


def _unrolled(rng: Random, lines: Lines) -> Lines:
    at = _somewhere(rng, lines, lambda at: bool(_FOR.match(lines[at])) and not lines[at - 1].startswith("#"))
    pragma = rng.choice(("#pragma unroll", "#pragma unroll 1", "#pragma unroll 3"))
    return [*lines[:at], pragma, *lines[at:]] if at else lines


def _hoisted(rng: Random, lines: Lines) -> Lines:
    at = _somewhere(
        rng, lines, lambda at: bool(_PLAIN.match(lines[at]) and _LOAD.search(lines[at]) and _follows(lines, at))
    )
    load = _LOAD.search(lines[at]) if at else None
    if not load:
        return lines
    name = f"h{rng.randrange(10**6)}"
    changed = lines[at][: load.start()] + name + lines[at][load.end() :]
    if _DECLARES.match(lines[at]) or "?" in lines[at]:
        return lines
    return [*lines[:at], "{", f"const auto {name} = {load.group()};", changed, "}", *lines[at + 1 :]]


def _follows(lines: Lines, at: int) -> bool:
    """Whether the line is a statement of its own, and not what a condition or a loop without braces decides about."""
    return lines[at - 1].rstrip().endswith((";", "{", "}"))


def _swapped(rng: Random, lines: Lines) -> Lines:
    at = _somewhere(
        rng, lines, lambda at: at + 1 < len(lines) and _follows(lines, at) and _apart(lines[at], lines[at + 1])
    )
    return [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]] if at else lines


def _apart(one: str, other: str) -> bool:
    """Whether two assignments to variables do not touch what the other one does."""
    if not _PLAIN.match(one) or not _PLAIN.match(other) or "shfl" in one + other or "__" in one + other:
        return False
    return _set(one).isdisjoint(_WORD.findall(other)) and _set(other).isdisjoint(_WORD.findall(one))


def _set(line: str) -> set[str]:
    """The variables that a line assigns to or declares."""
    plain = _PLAIN.match(line)
    return {*_NEXT.findall(line), *([plain.group(1)] if plain else [])}


def _qualified(rng: Random, lines: Lines) -> Lines:
    """`__restrict__` and `__launch_bounds__` added or taken away."""
    head = lines[0]
    if "__global__" in head and rng.random() < 0.5:
        bounds = "__launch_bounds__(64) "
        head = head.replace(bounds, "") if bounds in head else head.replace("void p", f"void {bounds}p", 1)
    elif "__restrict__" in head:
        head = head.replace("__restrict__ ", "")
    else:
        head = head.replace("*", "*__restrict__ ")
    return [head, *lines[1:]]


def _turned(rng: Random, lines: Lines) -> Lines:
    """A condition and its two ways the other way round."""

    def fits(at: int) -> bool:
        end = _end(lines, at)
        return (
            bool(re.match(r"^\s*if \(.*\) \{$", lines[at])) and lines[min(end + 1, len(lines) - 1)].strip() == "else {"
        )

    at = _somewhere(rng, lines, fits)
    if not at:
        return lines
    middle = _end(lines, at)
    last = _end(lines, middle + 1)
    condition = lines[at].strip()[len("if (") : -len(") {")]
    turned = [f"if (!({condition})) {{", *lines[middle + 2 : last], "}", "else {", *lines[at + 1 : middle], "}"]
    return [*lines[:at], *turned, *lines[last + 1 :]]


_WAYS = (_while, _unrolled, _hoisted, _swapped, _qualified, _turned)
