"""Gradients of programs that others have published: what was measured of them, as rows of results/published.json.

    python -m benchmarks.published MEASURED.json ... [--output benchmarks/results/published.json]

takes rows over from what measuring scripts wrote (a list, or one object a line); rows of the same source, kernel and
size are replaced. The programs are no part of adgen: where each comes from is said with its commit.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import click

from benchmarks.page import HERE, read
from benchmarks.results_file import merged

FILE = "published.json"
_SAME = ("source", "kernel", "size")
_COMMIT = 7  # digits of a commit at least


@dataclass(frozen=True)
class Published:
    """One kernel at one size; times in milliseconds, `source` is a repository on GitHub.

    adgen's gradient runs the forward pass again; a backward kernel written by hand mostly does not.
    """

    program: str
    source: str
    commit: str
    kernel: str
    size: str
    forward_ms: float | None
    hand_written_ms: float | None
    adgen_ms: float
    ratio: float
    device: str
    date: str

    @classmethod
    def of(cls, row: dict[str, Any]) -> Published:
        """A row of the file, or a measured one, whose ratio may be left out. Raises ValueError where it is unfit."""
        known = {each.name for each in fields(cls)}
        if unknown := set(row) - known:
            raise ValueError(f"no such fields: {', '.join(sorted(unknown))}")
        if missing := known - {"ratio"} - set(row):
            raise ValueError(f"fields are missing: {', '.join(sorted(missing))}")
        compared = row["hand_written_ms"] if row["hand_written_ms"] is not None else row["forward_ms"]
        if compared is None:
            raise ValueError(f"{row['kernel']}: neither a forward pass nor a hand-written gradient to compare with")
        if len(row["commit"]) < _COMMIT:
            raise ValueError(f"{row['kernel']}: {row['commit']!r} is no commit")
        return cls(**{**row, "ratio": row["adgen_ms"] / compared})

    @property
    def on_gpu(self) -> bool:
        """The others were measured on one thread of a host."""
        return self.device.startswith("NVIDIA ")


@dataclass(frozen=True)
class Compared:
    """Rows by what adgen's gradient is compared with: its own forward pass, or a gradient written by hand."""

    applications: list[Published]
    by_hand: list[Published]
    by_hand_on_host: list[Published]


def rows(folder: Path) -> Compared:
    """All rows of the file."""
    known = [Published.of(row) for row in read(folder, FILE)]
    by_hand = [row for row in known if row.hand_written_ms is not None]
    return Compared(
        [row for row in known if row.hand_written_ms is None],
        [row for row in by_hand if row.on_gpu],
        [row for row in by_hand if not row.on_gpu],
    )


def _measured(files: Iterable[Path]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for file in files:
        text = file.read_text(encoding="utf-8").strip()
        found += json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
    return [asdict(Published.of(row)) for row in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("measured", type=Path, nargs="+")
    parser.add_argument("--output", type=Path, default=HERE / "results" / FILE)
    options = parser.parse_args()
    new = _measured(options.measured)
    known = merged(read(options.output.parent, options.output.name), new, *_SAME)
    options.output.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    click.echo(f"{options.output}: {len(new)} of {len(known)} rows are new")
    return 0


if __name__ == "__main__":
    sys.exit(main())
