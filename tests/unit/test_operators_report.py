"""The page of the tensor operators: from data, and without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import operators, operators_report

MADE = {"model": "a machine", "date": "2026-01-01", "dtype": "float32", "floor_ms": 0.5, "backward_floor_ms": 0.7}


def row(operator: str, device: str, edge: int, threads: int, forward: float) -> dict[str, Any]:
    beside = {"torch_forward_ms": None, "torch_backward_ms": 3.25}
    times = {"forward_ms": forward, "backward_ms": 2 * forward}
    return {
        **MADE,
        "operator": operator,
        "device": device,
        "shape": [edge, edge],
        "threads": threads,
        **times,
        **beside,
    }


def test_the_fastest_launch_of_each_is_on_the_page(tmp_path: Path) -> None:
    measured = [row("add", "cuda", 1024, threads, 1000.0 / threads) for threads in (32, 64, 128)]
    measured += [row("add", "cpu", edge, 1, 40.0) for edge in (512, 1024)]
    (tmp_path / "operators.json").write_text(json.dumps(measured), encoding="utf-8")
    page = operators_report.page(tmp_path)
    assert "<td>7.812<td>0.500<td>-<td>15.6<td>0.700<td>3.250" in page
    assert "15.625" not in page
    assert "<td>31.2<" not in page
    assert page.count("<svg") == 3
    assert "benchmarks.digits" in page


def test_what_was_left_out_is_said(tmp_path: Path) -> None:
    left_out = {**row("matmul", "cpu", 4096, 1, 0.0), "forward_ms": None, "backward_ms": None, "left_out": "too long"}
    (tmp_path / "operators.json").write_text(json.dumps([row("add", "cpu", 512, 1, 40.0), left_out]), encoding="utf-8")
    assert "<li>matmul on cpu, 4096 x 4096: too long" in operators_report.page(tmp_path)


def test_what_single_precision_does_to_the_losses_is_shown(tmp_path: Path) -> None:
    epoch = {
        "where": "cuda",
        "model": "a machine",
        "hidden": [8, 4],
        "parameters": 99,
        "epoch_ms": 2.5,
        "accuracy": 0.97,
    }
    found = {"where": "PyTorch", "hidden": [8, 4], "starts": 12, "steps": 50, "limit": 1e-4, "beyond": 3}
    (tmp_path / "digits.json").write_text(json.dumps([epoch]), encoding="utf-8")
    assert "single precision" not in operators_report.page(tmp_path)
    (tmp_path / "digits_precision.json").write_text(json.dumps([{**found, "median": 2e-7, "largest": 3e-4}]))
    assert '<td>PyTorch<td class="text">8 x 4<td>3<td>2.0e-07<td>3.0e-04' in operators_report.page(tmp_path)


def test_nothing_measured(tmp_path: Path) -> None:
    page = operators_report.page(tmp_path)
    assert "Not measured yet" in page
    assert "<svg" not in page


def test_every_operator_has_a_group() -> None:
    grouped = [name for names in operators_report.GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(subject.name for subject in operators.subjects(32))
