"""Rows of a data file that are measured anew, and those that stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Row = dict[str, Any]


def merged(known: Iterable[Row], new: Sequence[Row], *keys: str) -> list[Row]:
    """Known rows stay, but for those that are the same as a new one by these keys."""
    again = {tuple(row[key] for key in keys) for row in new}
    return [row for row in known if tuple(row[key] for key in keys) not in again] + list(new)
