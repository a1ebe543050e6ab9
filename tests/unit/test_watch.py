"""The watch over the speed of gradients without a GPU: what it would run, and what it calls slower."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs.table import GPU_PROGRAMS
from runtime_support import written_artifact

from cuda_kernels.build_all import examples
from cuda_kernels.case import Array
from cuda_kernels.places import Host
from cuda_kernels.suite import by_name
from enzyme_driver.runtime.module import load

Watch = Any
DEVICE = "a GPU"


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """The script with NumPy in CuPy's place; forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.setitem(sys.modules, "cupy", np)
    module = importlib.import_module("benchmarks.watch")
    monkeypatch.setattr(module, "device_name", lambda: DEVICE)
    yield module
    for name in set(sys.modules) - before:
        if name.startswith("benchmarks"):
            del sys.modules[name]


def test_every_kernel_example_and_program_is_watched(watch: Watch) -> None:
    everything = watch.watched()
    assert len({each.name for each in everything}) == len(everything)
    kernels = {f"kernels/{name}" for name in by_name()}
    programs = {f"programs/{program.name}" for program in GPU_PROGRAMS}
    cuda = {f"examples/{path.stem}" for path in examples() if path.suffix == ".cu"}
    assert {each.artifact for each in everything} == kernels | programs | cuda


def test_what_is_recorded_is_of_what_is_watched(watch: Watch) -> None:
    device, known = watch.recorded(watch.RESULTS)
    assert device
    assert known.keys() <= {each.name for each in watch.watched()}


@pytest.mark.parametrize(
    ("primal", "gradient", "same", "slower"),
    [
        (1.0, 3.4, True, False),
        (1.0, 3.6, True, True),
        (1.2, 3.6, True, False),  # the clock is slower
        (0.8, 3.0, True, False),  # the primal alone is faster
        (2.0, 7.2, False, True),
        (2.0, 6.8, False, False),
    ],
)
def test_time_and_ratio_decide(
    watch: Watch,
    primal: float,
    gradient: float,
    same: bool,
    slower: bool,
) -> None:
    known = watch.Figure("sum", 1.0, 3.0)
    assert watch.Figure("sum", primal, gradient).slower(known, same_device=same) == slower


def test_differences_of_launches_are_not_slower(watch: Watch) -> None:
    assert not watch.Figure("sum", 0.003, 0.0059).slower(watch.Figure("sum", 0.003, 0.005), same_device=True)


def run(watch: Watch, monkeypatch: pytest.MonkeyPatch, measure: Callable[[Any], Any], *options: str) -> int:
    names = ("first", "second", "third")
    monkeypatch.setattr(watch, "watched", lambda: [watch.Watched(name, name, None) for name in names])
    monkeypatch.setattr(watch, "measure", lambda case, _: measure(case))
    monkeypatch.setattr(sys, "argv", ["watch", "folder", *options])
    code: int = watch.main()
    return code


def test_what_stays_slower_when_measured_again_is_named(
    watch: Watch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "watch.json"
    assert run(watch, monkeypatch, lambda case: watch.Figure(case.name, 1.0, 3.0), "--record", str(file)) == 0
    assert json.loads(file.read_text())["device"] == DEVICE
    later = {"first": [9.0, 3.0], "second": [9.0, 9.0], "third": [3.0]}

    def measured(case: Any) -> Any:  # noqa: ANN401
        return watch.Figure(case.name, 1.0, later[case.name].pop(0))

    assert run(watch, monkeypatch, measured, "--against", str(file)) == 1
    said = capsys.readouterr().out
    assert "SLOWER: second: primal 1 ms, gradient 9 ms (9.00), was second: primal 1 ms, gradient 3 ms (3.00)" in said
    assert said.count("SLOWER") == 1
    assert not any(later.values())


def test_what_fails_is_named_and_the_others_are_measured(
    watch: Watch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def measured(case: Any) -> Any:  # noqa: ANN401
        if case.name == "first":
            raise MemoryError("too much")
        return watch.Figure(case.name, 1.0, 3.0)

    file = tmp_path / "watch.json"
    assert run(watch, monkeypatch, measured, "--record", str(file)) == 1
    assert "first: FAILED, MemoryError: too much" in capsys.readouterr().out
    assert [row["case"] for row in json.loads(file.read_text())["cases"]] == ["second", "third"]


def test_arguments_and_cotangents_are_drawn_once_and_filled_again(
    watch: Watch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    placed: list[Array] = []

    class Keeping(Host):
        def put(self, array: Array) -> Array:
            placed.append(super().put(array))
            return placed[-1]

    monkeypatch.setattr(watch.as_tested, "Gpu", Keeping)
    kernel = load(written_artifact(tmp_path).folder).square
    runs, refill = watch.as_tested.runs(kernel, {"x": np.arange(1.0, 9.0), "y": np.zeros(8), "n": 8}, (1, 8))
    x, y, shadow_x, shadow_y = placed
    before = [array.copy() for array in placed]
    runs["primal"]()
    np.testing.assert_array_equal(y, x**2)
    runs["gradient"]()
    np.testing.assert_allclose(shadow_x, before[2] + 2 * x * before[3])
    assert not shadow_y.any()
    refill()
    for array, first in zip(placed, before, strict=True):
        np.testing.assert_array_equal(array, first)
