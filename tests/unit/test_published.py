"""benchmarks/results/published.json: every row says where its program comes from and what it is compared with."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import published

ROW: dict[str, Any] = {
    "program": "waves",
    "source": "someone/waves",
    "commit": "0123456789",
    "kernel": "step",
    "size": "512 x 512",
    "forward_ms": 2.0,
    "hand_written_ms": None,
    "adgen_ms": 6.0,
    "device": "NVIDIA H100 80GB HBM3",
    "date": "2026-11-25",
}


def test_a_gradient_is_compared_with_one_by_hand_or_else_with_the_forward_pass() -> None:
    assert published.Published.of(ROW).ratio == pytest.approx(3.0)
    assert published.Published.of(ROW | {"hand_written_ms": 4.0}).ratio == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"forward_ms": None}, "neither a forward pass"),
        ({"commit": "main"}, "is no commit"),
        ({"speed": 1.0}, "no such fields: speed"),
    ],
)
def test_a_row_that_says_too_little_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        published.Published.of(ROW | changes)
    with pytest.raises(ValueError, match="fields are missing: source"):
        published.Published.of({name: value for name, value in ROW.items() if name != "source"})


def test_measured_rows_replace_those_of_the_same_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output, measured = tmp_path / published.FILE, tmp_path / "measured.jsonl"
    other = ROW | {"kernel": "other", "hand_written_ms": 3.0}
    for rows in ([ROW, other, other | {"kernel": "third", "device": "a processor"}], [ROW | {"adgen_ms": 5.0}]):
        measured.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        monkeypatch.setattr(sys, "argv", ["published", str(measured), "--output", str(output)])
        assert published.main() == 0
    found = published.rows(tmp_path)
    assert [(row.kernel, row.ratio) for row in found.applications] == [("step", 2.5)]
    assert [(row.kernel, row.ratio) for row in found.by_hand] == [("other", 2.0)]
    assert [row.kernel for row in found.by_hand_on_host] == ["third"]
