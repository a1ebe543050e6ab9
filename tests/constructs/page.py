"""docs/coverage.md: one row a construct, from the outcomes of the files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from textwrap import fill

from constructs.construct import FOLDER, SourceFile
from constructs.outcome import Outcome
from constructs.table import FILES

PAGE = FOLDER.parents[1] / "docs" / "coverage.md"
ON_GPU = FOLDER / "on_gpu.json"
"""What constructs/on_gpu.py found: the device, the date, and the error of each kernel's gradient."""

PUBLIC = FOLDER / "public.json"
"""What became of programs that nobody here wrote: repository, commit, date, counts by cause."""

INTRODUCTION = """\
# Coverage

Every construct with a small kernel of its own, in `tests/constructs`. This page was written by
`docs/make_coverage.py`, and a test fails where it is out of date. *OpenMP*: the gradient is right on fresh random
arguments, compared with finite differences of the kernel. *CUDA*: it was compiled to a cubin. *GPU*: its gradient was
checked on that device, that day.

{constructs} constructs, {refused} of them refused.

{subjects}

Refused, with the message in the row of each:

{listed}
"""

_PUBLIC = """\
## Public programs

Kernels of others, compiled as they are with the definitions of their builds, each called with arguments drawn by its
signature, in blocks as the program launches them where its text says so, and its host gradient compared with the dual
numbers; for a few, with arguments like the program's own. What is right on the host is called on the GPU with the same
arguments, and the two gradients are compared. Each kernel counts once, whatever the number of files that include it.
*{repository}* at {commit}, {parts}, {date}.

| what became of it | number |
|---|---|
"""

_HEAD = "| construct | kernel | OpenMP | CUDA | GPU | message where refused |\n|---|---|---|---|---|---|\n"


def page(found: Iterable[tuple[SourceFile, Iterable[Outcome]]]) -> str:
    """The whole page."""
    return "\n".join([introduction(), *(section(file, rows) for file, rows in found), public()])


def introduction() -> str:
    constructs = [construct for file in FILES for construct in file.constructs]
    refused = [(construct, file) for file in FILES for construct in file.constructs if construct.refused]
    listed = "\n".join(_wrapped(f"- {construct.text} ({_link(file.title)})") for construct, file in refused)
    subjects = f"By subject: {', '.join(map(_link, (*(file.title for file in FILES), 'Public programs')))}."
    return INTRODUCTION.format(
        constructs=len(constructs), refused=len(refused), subjects=_wrapped(subjects), listed=listed
    )


def _wrapped(text: str) -> str:
    indent = "  " if text.startswith("- ") else ""
    return fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _link(title: str) -> str:
    """To the section of that title, as GitHub calls it."""
    place = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return f"[{title}](#{place.replace(' ', '-')})"


def public() -> str:
    """What became of public programs, by cause."""
    tried = json.loads(PUBLIC.read_text(encoding="utf-8"))
    rows = (f"| {cause} | {count} |\n" for cause, count in tried["counts"].items())
    return _PUBLIC.format(**tried) + "".join(rows)


def section(file: SourceFile, found: Iterable[Outcome]) -> str:
    """The rows of one file, under its title."""
    return f"## {file.title}\n\n{_HEAD}" + "".join(_row(file, outcome) for outcome in found)


def _row(file: SourceFile, outcome: Outcome) -> str:
    construct = outcome.construct
    openmp = "refused" if "openmp" in outcome.refused else "**wrong**" if outcome.wrong else "right"
    here = "cuda" in file.targets
    cuda = "refused" if "cuda" in outcome.refused else "compiled" if here else "no kernel"
    kernels = ", ".join(f"`{name}`" for name in (construct.entry, *construct.also))
    on_gpu = _on_gpu(file, construct.entry) if here else "no kernel"
    cells = (construct.text, kernels, openmp, cuda, on_gpu, outcome.message)
    return f"| {' | '.join(cells)} |\n"


def _on_gpu(file: SourceFile, entry: str) -> str:
    known = _measured(ON_GPU)
    if entry not in known.get("right", {}).get(file.name, ()):
        return "not yet"
    return f"{known['device']}, {known['date']}"


@cache
def _measured(path: Path) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found
