"""What the pages of results share: data files, the template's environment, and the command that writes one."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import jinja2

HERE = Path(__file__).resolve().parent
Row = dict[str, Any]


def read(folder: Path, name: str) -> list[Row]:
    """The rows of a data file; none where it is missing."""
    path = folder / name
    rows: list[Row] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return rows


def read_object(folder: Path, name: str) -> Row:
    """A data file that is one object; empty where it is missing."""
    path = folder / name
    found: Row = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def rendered(template: str, **parts: object) -> str:
    """The page as HTML that refers to no other file."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["ms"] = _milliseconds
    return environment.get_template(template).render(**parts)


def measured_on(rows: Sequence[Row], key: str = "device") -> str:
    """The devices and days of the rows."""
    devices = sorted({row[key] for row in rows})
    dates = sorted({row["date"] for row in rows})
    days = " to ".join(dict.fromkeys([dates[0], dates[-1]])) if dates else ""
    return f"{', '.join(devices)}, {days}" if rows else "nothing was measured yet"


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if value < 10 else f"{value:.1f}"  # noqa: PLR2004, four digits


def write(page: Callable[[Path], str], description: str | None) -> int:
    """The command line: the output, and where the data are."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--results", type=Path, default=HERE / "results")
    options = parser.parse_args()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(page(options.results), encoding="utf-8")
    click.echo(str(options.output))
    return 0
