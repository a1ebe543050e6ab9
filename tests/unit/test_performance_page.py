"""docs/performance.md: made from the data, every figure of it, and up to date."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import framework_table, performance_page
from benchmarks.published import Compared, Published

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


def test_the_summary_counts_what_is_within_its_goal() -> None:
    own = [{"ratio": 2.03, "at_most": 2, "case": "a"}, {"ratio": 5.0, "at_most": 4, "case": "b"}]
    row: dict[str, Any] = {
        "program": "p",
        "source": "s",
        "commit": "c",
        "size": "1",
        "ratio": 2.0,
        "device": "NVIDIA H200",
        "date": "t",
    }
    alone = Published(**row, kernel="k", forward_ms=1.0, hand_written_ms=None, adgen_ms=2.0)
    beside = [
        Published(**row, kernel=name, forward_ms=forward, hand_written_ms=1.0, adgen_ms=ms)
        for name, forward, ms in (("x", 1.0, 2.2), ("y", 1.0, 4.4), ("unknown", None, 9.0))
    ]
    on_host = [replace(each, device="a processor") for each in beside[:1]]
    gpu, host, apart, together, threaded = performance_page.summary(own, own[:1], Compared([alone], beside, on_host))
    assert (gpu["cases"], gpu["within"], gpu["worst"], gpu["of"]) == (2, 1, 5.0, "b")
    assert (host["cases"], apart["median"]) == (1, 2.0)
    assert (together["cases"], together["within"], together["of"]) == (2, 1, "y")
    assert together["worst"] == pytest.approx(2.0)
    assert (threaded["cases"], threaded["within"], threaded["worst"]) == (1, 0, 2.0)


def test_the_committed_page_is_up_to_date() -> None:
    made = performance_page.page(RESULTS)
    assert performance_page.PAGE.read_text(encoding="utf-8") == made, "run python -m benchmarks.performance_page"


def test_every_measured_case_has_its_row() -> None:
    page = performance_page.page(RESULTS)
    for name in ("gpu.json", "openmp.json", "frameworks.json"):
        for row in json.loads((RESULTS / name).read_text(encoding="utf-8")):
            assert f"| {row['case']} | {row['size']} |" in page


def test_a_missed_goal_is_said(tmp_path: Path) -> None:
    shutil.copytree(RESULTS, tmp_path / "results")
    file = tmp_path / "results" / "gpu.json"
    rows = json.loads(file.read_text(encoding="utf-8"))[:1]
    rows[0] |= {"ratio": 9.0, "at_most": 2.0}
    file.write_text(json.dumps(rows), encoding="utf-8")
    page = performance_page.page(tmp_path / "results")
    assert f"| {rows[0]['case']} | {rows[0]['size']} |" in page
    assert "| 9.00 | 2, missed |" in page


def test_a_file_that_compiles_too_long_is_said_to_miss_its_goal() -> None:
    stages = {"reading": 0.5, "ptxas": 1.25}
    row = {"program": "P", "file": "f.cu", "stages": stages, "nvcc": 0.5, "before": 3.0}
    other = {**row, "stages": {**stages, "ptxas": 1.5}}
    data = performance_page.compile_stages({"results": [row, other, {**row, "nvcc": None}]})
    found = [(each["name"], each["all"], each["goal"]) for each in data["results"]]
    assert found == [("P, `f.cu`", 1.75, 1.75), ("P, `f.cu`", 2.0, 1.75), ("P, `f.cu`", 1.75, None)]


def test_cases_that_gain_are_counted_on_both_targets() -> None:
    def row(case: str, disabled: str, milliseconds: float) -> dict[str, object]:
        said = {"case": case, "size": "1", "disabled": disabled, "gradient_ms": milliseconds, "device": "NVIDIA H200"}
        return {**said, "primal_ms": 1.0, "same_code": False, "failure": ""}

    gpu = [row("a", "none", 1), row("a", "one", 1.2), row("b", "none", 1), row("b", "one", 1.04)]
    host = [{"case": "a", "disabled": "one", "ratio": 1.05}, {"case": "c", "disabled": "other", "ratio": 0.9}]
    assert performance_page.gaining(gpu, host) == {"one": 2, "other": 0}


def test_figures_have_three_digits_and_no_exponent() -> None:
    assert [performance_page.figures(value) for value in (None, 0.0123456, 4.0, 12345.6)] == [
        "-",
        "0.0123",
        "4",
        "12,346",
    ]


def test_the_tables_beside_other_libraries_are_up_to_date() -> None:
    for path, table in framework_table.documents().items():
        page = path.read_text(encoding="utf-8")
        made = framework_table.with_table(page, table)
        assert page == made, f"{path.name}: run python -m benchmarks.framework_table"
        assert "| elementwise | 2^24 float |" in page or "| `elementwise-elementwise` | ok |" in page
