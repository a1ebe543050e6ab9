"""The report of GPU figures: made from the committed data, and from data where something is missing or failed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks import openmp_report, report

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
MADE = {"device": "a GPU", "date": "2026-01-01"}


def table(page: str, name: str) -> list[list[str]]:
    """The cells of a table by row, without its head."""
    found = re.search(rf'<table id="{name}">(.*?)</table>', page, re.DOTALL)
    assert found is not None
    rows = found.group(1).strip().split("<tr>")[2:]
    return [[re.sub(r"^[^>]*>", "", cell).strip() for cell in row.split("<td")[1:]] for row in rows]


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    (folder / name).write_text(json.dumps([row | MADE for row in rows]))


def test_the_committed_figures_are_all_on_the_page() -> None:
    page = report.page(RESULTS)
    figures = json.loads((RESULTS / "gpu.json").read_text())
    rows = table(page, "suite")
    assert [row[:2] for row in rows] == [[figure["case"], figure["size"]] for figure in figures]
    for row, figure in zip(rows, figures, strict=True):
        assert float(row[4]) == pytest.approx(figure["ratio"], abs=0.005)
        assert float(row[2]) == pytest.approx(figure["primal_ms"], rel=0.01, abs=0.001)
    assert "NVIDIA H200" in page
    assert page.count("<svg") >= 1


def test_several_gpus_are_plotted(tmp_path: Path) -> None:
    assert "examples/distributed/run.py" in report.page(tmp_path)
    row = {"devices": 2, "strong_efficiency": 0.9, "weak_efficiency": 0.95}
    measured = MADE | {"block": [64, 32, 16], "dtype": "float64", "rows": [row], "views": {"rows": []}}
    (tmp_path / "devices.json").write_text(json.dumps(measured))
    page = report.page(tmp_path)
    assert "64 \u00d7 32 \u00d7 16" in page
    assert "strong efficiency" in page


def test_the_hosts_page_shows_ratios_and_what_threads_gain(tmp_path: Path) -> None:
    times = [(1, 8.0, 20.0, 2.5), (2, 4.0, 16.0, 4.0)]
    rows = [
        {"case": "sum", "size": "9", "threads": n, "primal_ms": p, "gradient_ms": g, "ratio": r, "at_most": 3.0}
        for n, p, g, r in times
    ]
    rows[1] |= {"by_hand_ms": 2.0, "over_hand": 2.0, "over_hand_at_most": 1.3, "efficiency": 0.63}
    write(tmp_path, "openmp.json", rows)
    page = openmp_report.page(tmp_path)
    assert table(page, "host") == [
        ["sum", "9", "1", "8.000", "20.0", "2.50", "3.0", "-", "-", "-"],
        ["sum", "9", "2", "4.000", "16.0", "4.00", "3.0", "0.63", "2.00", "1.3"],
    ]
    assert page.count('class="missed"') == 3
    assert page.count("<svg") == 2


def test_the_hosts_page_says_what_measures_it(tmp_path: Path) -> None:
    assert "python -m benchmarks.openmp" in openmp_report.page(tmp_path)


def test_without_data_every_part_says_what_measures_it(tmp_path: Path) -> None:
    page = report.page(tmp_path)
    for script in ("gpu", "frameworks", "build_ablation", "scaling"):
        assert f"python -m benchmarks.{script}" in page
        assert (RESULTS.parent / f"{script}.py").exists()
    assert "<svg" not in page
    assert "<table" not in page


def test_frameworks_are_compared_with_the_faster_one(tmp_path: Path) -> None:
    times = {"adgen": 3.0, "jax": 2.0, "pytorch": 4.0}
    known = {"case": "sum", "size": "9", "forward_ms": 1.0, "difference": 0.0}
    write(tmp_path, "frameworks.json", [known | {"library": name, "gradient_ms": time} for name, time in times.items()])
    page = report.page(tmp_path)
    assert table(page, "frameworks") == [["sum", "9", "3.000", "2.000", "4.000", "1.50"]]
    assert page.count("<svg") == 1


def test_a_failure_without_an_optimisation_is_shown_as_one(tmp_path: Path) -> None:
    def row(disabled: str, time: float | None, failure: str = "", same_code: bool = False) -> dict[str, Any]:
        known = {"case": "loop", "size": "9", "primal_ms": 1.0, "same_code": same_code}
        return known | {"disabled": disabled, "gradient_ms": time, "failure": failure}

    rows = [
        row("none", 2.0),
        row("tape", None, "the heap is <exhausted>"),
        row("sink-zero-stores", 5.0),
        row("expose-refills", 2.0, same_code=True),
    ]
    write(tmp_path, "ablation.json", rows)
    page = report.page(tmp_path)
    assert table(page, "ablation") == [["loop", "9, a", "2.000", "fails", "2.50", "="]]
    assert "the heap is &lt;exhausted&gt;" in page


def test_only_times_of_one_gpu_are_compared() -> None:
    def row(device: str, disabled: str, time: float) -> dict[str, Any]:
        return {"case": "loop", "size": "9", "device": device, "disabled": disabled, "gradient_ms": time}

    old, new = "NVIDIA H200", "NVIDIA H100 80GB HBM3"
    rows = [row(old, "none", 1.0), row(old, "tape", 3.0), row(new, "none", 2.0), row(new, "heap", 5.0)]
    first, second = report.ablated(rows)
    assert (first.size, first.effect("tape"), first.effect("heap")) == ("9, H200", 3.0, None)
    assert (second.size, second.effect("tape"), second.effect("heap")) == ("9, H100", None, 2.5)


def test_only_times_of_one_day_are_compared() -> None:
    def row(date: str, disabled: str, time: float) -> dict[str, Any]:
        about = {"case": "loop", "size": "9", "device": "NVIDIA H200", "date": date}
        return {**about, "disabled": disabled, "gradient_ms": time}

    rows = [row("one", "none", 1.0), row("one", "tape", 3.0), row("other", "none", 2.0), row("other", "heap", 5.0)]
    first, second = report.ablated(rows)
    assert (first.effect("tape"), first.effect("heap")) == (3.0, None)
    assert (second.effect("tape"), second.effect("heap")) == (None, 2.5)


def test_both_scaling_plots(tmp_path: Path) -> None:
    times = {"size": "", "primal_ms": 1.0, "gradient_ms": 2.0, "ratio": 2.0}
    rows = [{"axis": axis, "value": value, "case": axis} | times for axis in ("threads", "work") for value in (1, 10)]
    write(tmp_path, "scaling.json", rows)
    page = report.page(tmp_path)
    assert page.count("<svg") == 2
    assert "iterations of the loop of a thread" in page
