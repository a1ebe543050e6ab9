"""The GPU benchmark without a GPU: what it would run, and which figures a partial run keeps. NumPy stands for CuPy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks import openmp
from benchmarks.results_file import merged
from cuda_kernels.suite import by_name


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The script as a module, with imports of its own that are forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.setitem(sys.modules, "cupy", np)
    from benchmarks import gpu

    yield gpu
    for name in set(sys.modules) - before:
        if name.startswith("benchmarks"):
            del sys.modules[name]


def test_every_case_is_of_the_collection_and_has_a_floor(gpu: Any) -> None:  # noqa: ANN401, a script
    collection = by_name()
    for case in gpu.CASES:
        assert case.artifact in collection
        assert case.floor.milliseconds(4e12) > 0
    labels = [case.label for case in gpu.CASES]
    assert len(set(labels)) == len(labels)


def test_cases_are_chosen_by_name_or_size(gpu: Any) -> None:  # noqa: ANN401
    assert gpu.chosen([]) == list(gpu.CASES)
    assert {case.name for case in gpu.chosen(["recurrence", "4096"])} == {"recurrence", "tiled matmul"}
    assert len(gpu.chosen(["recurrence", "4096"])) == 13


def test_a_partial_run_replaces_its_own_figures() -> None:
    def row(case: str, size: str, ratio: float) -> dict[str, Any]:
        return {"case": case, "size": size, "ratio": ratio}

    known = [row("matmul", "small", 3.0), row("matmul", "large", 4.0), row("stencil", "large", 5.0)]
    new = [row("matmul", "large", 2.0)]
    assert [each["ratio"] for each in merged(known, new, "case", "size")] == [3.0, 5.0, 2.0]
    assert [each["ratio"] for each in merged(known, new, "case")] == [5.0, 2.0]


def test_a_case_that_fails_is_reported_and_the_others_are_measured(
    gpu: Any,  # noqa: ANN401
    tmp_path: Any,  # noqa: ANN401
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def measured(case: Any, *_: object) -> Any:  # noqa: ANN401
        if "100 steps" in case.size:
            raise RuntimeError("out of memory")
        return gpu.Figure(case.name, case.size, 1.0, 2.0, 2.0, case.at_most, 0.1, "a GPU", "2026-01-01", 1.1, 2.6)

    output = tmp_path / "gpu.json"
    arguments = ["gpu", str(tmp_path), "--output", str(output), "--case", "recurrence"]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setattr(gpu, "measure", measured)
    monkeypatch.setattr(gpu, "bandwidth", lambda: 4e12)
    assert gpu.main() == 1
    assert "100 steps, float: FAILED, RuntimeError: out of memory" in capsys.readouterr().err
    assert [entry["size"] for entry in gpu.json.loads(output.read_text())] == [
        f"2^18 threads, {steps} steps, {dtype}{what}"
        for steps in (10, 1000)
        for what in ("", ", derivatives alone")
        for dtype in ("double", "float")
    ]


def test_rows_of_several_threads_say_how_well_the_gradient_scales() -> None:
    def figure(case: str, threads: int, ratio: float) -> openmp.Figure:
        return openmp.Figure(case, "9", threads, 1.0, ratio, ratio, 3.0, "a processor", "2026-01-01")

    rows = openmp.as_rows([figure("sum", 1, 2.0), figure("sum", 16, 2.5), figure("other", 16, 2.0)])
    assert [row.get("efficiency") for row in rows] == [None, 0.8, None]
    assert all("by_hand_ms" not in row for row in rows)
