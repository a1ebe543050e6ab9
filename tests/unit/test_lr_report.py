"""The page of likelihood ratios: from the committed data, and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import lr_report

pytestmark = pytest.mark.unit
RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


def test_the_page_of_the_committed_data() -> None:
    page = lr_report.page(RESULTS)
    for words in (
        "LR-M",
        "times as fast as BP",
        "Training the rnn",
        "Estimates against the compiled gradient",
        "Products on Tensor Cores",
    ):
        assert words in page
    assert page.count("<svg") == 4


def test_a_page_without_data(tmp_path: Path) -> None:
    assert "Not measured yet" in lr_report.page(tmp_path)
