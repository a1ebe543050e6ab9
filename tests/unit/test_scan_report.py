"""The page of the scan: from the committed data, and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import scan_report

pytestmark = pytest.mark.unit
RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


def test_the_page_of_the_committed_data() -> None:
    page = scan_report.page(RESULTS)
    assert "NVIDIA H100" in page
    for heading in (
        "against cuDNN",
        "Robertson",
        "Kalman",
        "gated recurrent unit",
        "On the host",
        "by the length of chunks",
        "Sparse Jacobians",
        "Training from the same weights",
        "On a part of the GPU",
        "A pruned VGG-11",
    ):
        assert heading in page
    assert page.count("<svg") == 5


def test_a_page_without_data(tmp_path: Path) -> None:
    assert "Not measured yet" in scan_report.page(tmp_path)
