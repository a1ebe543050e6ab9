"""Makes a program that fails smaller, line by line and block by block, as long as it fails in the same way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from random_programs.batch import Outcome, Patience, trial
from random_programs.programs import program

MOST_TRIALS = 150
PATIENCE = Patience(least=120)


def reduced(language: str, outcome: Outcome, folder: Path) -> Path:
    """The file with what is left of the program of that outcome."""
    lines = program(outcome.number, cuda=language == "cuda").source.splitlines()
    path = folder / f"reduced{outcome.number}.txt"
    left = MOST_TRIALS
    again = True
    while again and left:
        again = False
        for fewer in smaller(lines):
            left -= 1
            if _fails(language, outcome, fewer, path):
                lines, again = fewer, True
                break
            if not left:
                break
    path.write_text("\n".join((*lines, "")), encoding="utf-8")
    return path


def _fails(language: str, outcome: Outcome, lines: list[str], path: Path) -> bool:
    path.write_text("\n".join((*lines, "")), encoding="utf-8")
    ended = trial("random_programs.trial", [language, str(outcome.number), "1", str(path.parent), str(path)], PATIENCE)
    last = ended.lines[-1]["verdict"] if ended.lines else ""
    match outcome.verdict:
        case "hung":
            return ended.word == "hung"
        case "crashed":
            return ended.word == "failed" and last == "began" and _kind(ended.why) == _kind(outcome.why)
        case "failed":
            return ended.word == "failed" and not last and "SourceError" not in ended.why
        case verdict:
            return not ended.word and last == verdict


def _kind(why: str) -> str:
    """The error that a process ended with; empty where that was a signal."""
    return why.strip().rpartition("\n")[2].partition(":")[0]


def smaller(lines: list[str]) -> Iterator[list[str]]:
    """Without a block, without what makes it one, or without a line; large ones first."""
    body = range(_head(lines), len(lines) - 1)
    ends = {at: _end(lines, at) for at in body}
    for at in sorted(body, key=lambda k: k - ends[k]):
        end = ends[at]
        if lines[at].strip().startswith("}"):
            continue
        yield lines[:at] + lines[end + 1 :]
        if end > at:
            yield lines[:at] + lines[at + 1 : end] + lines[end + 1 :]


def _head(lines: list[str]) -> int:
    return lines.index("{") + 1


def _end(lines: list[str], at: int) -> int:
    """The line with which the block ends that begins there; the same one where none does."""
    depth = 0
    for k in range(at, len(lines)):
        depth += lines[k].count("{") - lines[k].count("}")
        if depth <= 0:
            return k
    return at
