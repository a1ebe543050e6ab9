"""Counts what became of random programs, in a file that every run adds to."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from random_programs.batch import Outcome

VERDICTS = ("right", "refused", "undecided", "wrong", "crashed", "hung", "failed")
_PLACE = re.compile(r"\S*\.(?:cu|cpp)\S*")
_NUMBER = re.compile(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?")
_LONGEST = 200

Row = dict[str, Any]


def recorded(path: Path, kind: str, target: str, found: list[Outcome]) -> None:
    """Add the outcomes of a batch to the file, which is whole at all times."""
    known = json.loads(path.read_text("utf-8")) if path.exists() else {"rows": []}
    row = _row(known["rows"], kind, target)
    row["date"] = datetime.now(UTC).isoformat(timespec="seconds")
    row["drawn"] += len(found)
    for each in found:
        row[each.verdict] += 1
        if each.verdict != "right":
            causes = row["causes"].setdefault(each.verdict, {})
            causes[cause(each.why)] = causes.get(cause(each.why), 0) + 1
    whole = path.with_suffix(".new")
    whole.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    whole.replace(path)


def _row(rows: list[Row], kind: str, target: str) -> Row:
    for row in rows:
        if (row["programs"], row["target"]) == (kind, target):
            return row
    new: Row = {"programs": kind, "target": target, "date": "", "drawn": 0, **dict.fromkeys(VERDICTS, 0), "causes": {}}
    rows.append(new)
    return new


def cause(why: str) -> str:
    """What is the same for all programs that fail in one way: no places, no numbers."""
    line = next((each for each in reversed(why.strip().splitlines()) if each.strip()), "")
    return _NUMBER.sub("#", _PLACE.sub("", line)).strip()[:_LONGEST]
