"""Counts what became of random programs, in a file that every run adds to.

python -m random_programs.tally INTO FROM    adds the counts of one file to those of another
"""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from random_programs.batch import Outcome

VERDICTS = ("right", "refused", "undecided", "race", "wrong", "crashed", "hung", "failed")
_PLACE = re.compile(r"\S*\.(?:cu|cpp)\S*")
_NUMBER = re.compile(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?")
_LONGEST = 200

Row = dict[str, Any]


def recorded(path: Path, kind: str, target: str, found: list[Outcome]) -> None:
    """Add the outcomes of a batch to the file, which is whole at all times."""
    new: Row = _empty(kind, target)
    new["drawn"] = len(found)
    for each in found:
        new[each.verdict] += 1
        if each.verdict != "right":
            causes = new["causes"].setdefault(each.verdict, {})
            causes[cause(each.why)] = causes.get(cause(each.why), 0) + 1
    added(path, [new])


def added(path: Path, rows: list[Row]) -> None:
    """Add rows of counts to those of the file for the same programs and target."""
    known = json.loads(path.read_text("utf-8")) if path.exists() else {"rows": []}
    for new in rows:
        row = _row(known["rows"], new["programs"], new["target"])
        row["date"] = max(row["date"], new["date"])
        for word in ("drawn", *VERDICTS):
            row[word] = row.get(word, 0) + new.get(word, 0)
        for verdict, causes in new["causes"].items():
            there = row["causes"].setdefault(verdict, {})
            for why, count in causes.items():
                there[why] = there.get(why, 0) + count
    whole = path.with_suffix(".new")
    whole.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    whole.replace(path)


def _row(rows: list[Row], kind: str, target: str) -> Row:
    for row in rows:
        if (row["programs"], row["target"]) == (kind, target):
            return row
    rows.append(_empty(kind, target))
    return rows[-1]


def _empty(kind: str, target: str) -> Row:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"programs": kind, "target": target, "date": now, "drawn": 0, **dict.fromkeys(VERDICTS, 0), "causes": {}}


def cause(why: str) -> str:
    """What is the same for all programs that fail in one way: no places, no numbers."""
    line = next((each for each in reversed(why.strip().splitlines()) if each.strip()), "")
    return _NUMBER.sub("#", _PLACE.sub("", line)).strip()[:_LONGEST]


if __name__ == "__main__":
    added(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text("utf-8"))["rows"])
