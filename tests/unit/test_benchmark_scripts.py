"""Scaling, ablation and frameworks without a GPU: what they would run, and that a failing part does not end them."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Self

import numpy as np
import pytest

from benchmarks import build_ablation
from cuda_kernels.suite import by_name
from enzyme_driver.optimisations import OPTIMISATIONS

Script = Any


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports a script of the folder with NumPy in CuPy's place; forgets it afterwards."""
    before = set(sys.modules)
    monkeypatch.setitem(sys.modules, "cupy", np)
    yield lambda name: importlib.import_module(f"benchmarks.{name}")
    for name in set(sys.modules) - before:
        if name.startswith("benchmarks"):
            del sys.modules[name]


def run(module: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", [module.__name__, *arguments])
    code: int = module.main()
    return code


def test_scaling_has_two_axes_of_known_kernels(script: Script) -> None:
    points = list(script("scaling").points())
    assert {point.axis for point in points} == {"threads", "work"}
    assert {point.case.artifact for point in points} <= by_name().keys()
    for point in points:
        grid, block = (np.prod(extent) for extent in (point.case.grid, point.case.block))
        assert grid * block == (point.value if point.axis == "threads" else grid * block)
        assert grid >= 1


def test_scaling_leaves_out_a_point_that_fails(
    script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = script("scaling")

    def measured(case: Any, *_: object) -> Any:  # noqa: ANN401
        if "1000 steps" in case.size:
            raise MemoryError("too much")
        return module.Figure(case.name, case.size, 1.0, 2.5, 2.5, case.at_most, 0.0, "a GPU", "2026-01-01", 1.1, 2.6)

    monkeypatch.setattr(module, "measure", measured)
    output = tmp_path / "scaling.json"
    assert run(module, monkeypatch, str(tmp_path), "--output", str(output)) == 1
    assert "MemoryError: too much" in capsys.readouterr().err
    rows = json.loads(output.read_text())
    assert len(rows) == len(list(module.points())) - 1
    assert {"axis", "value", "case", "size", "primal_ms", "gradient_ms", "ratio", "device", "date"} == rows[0].keys()


def test_every_optimisation_is_left_out_once() -> None:
    commands = build_ablation.commands(Path("out"), "sm_90")
    built = len(build_ablation.ARTIFACTS) + len(build_ablation.PROGRAMS)
    assert len(commands) == built * (1 + len(build_ablation.LEFT_OUT))
    assert {*build_ablation.LEFT_OUT, *build_ablation.HOST} == OPTIMISATIONS.keys()
    for arguments in commands.values():
        assert "openmp" not in arguments
        assert arguments.count("-t") == arguments.count("cuda") == 1
        folder = Path(arguments[arguments.index("-o") + 1])
        left_out = arguments[arguments.index("--disable") + 1] if "--disable" in arguments else "none"
        assert folder.parts[:3] == ("out", left_out, "kernels")


def test_ablation_records_what_fails_and_what_changes_nothing(
    script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = script("ablation")
    artifacts = {*build_ablation.ARTIFACTS, *build_ablation.PROGRAMS}
    assert {case.artifact for case in module.chosen([])} == artifacts

    def measured(_: Any, artifacts: dict[str, Path], *__: float) -> Any:  # noqa: ANN401
        times = SimpleNamespace(device=2.5)
        assert list(artifacts) == ["none", "lower-caches"]
        return {"primal": SimpleNamespace(device=1.0), "none": times}, {"lower-caches": "the heap is exhausted"}

    monkeypatch.setattr(module, "measure_variants", measured)
    monkeypatch.setattr(module, "device_name", lambda: "a GPU")
    monkeypatch.setattr(
        module, "code", lambda _, folder: {"lower-caches" if folder.name == "lower-caches" else "other"}
    )
    monkeypatch.setattr(module, "CASES", tuple(case for case in module.CASES if case.name == "elementwise"))
    monkeypatch.setattr(module.more, "CASES", ())
    for name in ("none", "sink-zero-stores", "lower-caches"):
        (tmp_path / name / "kernels" / "elementwise-elementwise").mkdir(parents=True)
    output = tmp_path / "ablation.json"
    assert run(module, monkeypatch, str(tmp_path), "--output", str(output)) == 0
    rows = {row["disabled"]: row for row in json.loads(output.read_text())}
    assert {name: (row["gradient_ms"], row["failure"]) for name, row in rows.items()} == {
        "none": (2.5, ""),
        "sink-zero-stores": (2.5, ""),
        "lower-caches": (None, "the heap is exhausted"),
    }
    assert [name for name, row in rows.items() if row["same_code"]] == ["sink-zero-stores"]


class FakeKernel:
    """A kernel whose derivatives are slightly off."""

    signature = SimpleNamespace(shadowed=())

    def __getitem__(self, _: object) -> Any:  # noqa: ANN401
        return SimpleNamespace(prepare=lambda *_, **__: lambda: None)

    @property
    def gradient(self) -> FakeKernel:
        return self

    @property
    def vjp(self) -> dict[None, Any]:
        return {None: lambda *values, cotangents, **_: {"x": 2.001 * values[0] * next(iter(cotangents.values()))}}


class FakeRuns:
    """A framework that computes the right derivatives at once."""

    names = ("x",)

    def __init__(self, name: str, args: dict[str, Any], cotangent: Any) -> None:  # noqa: ANN401
        if name == "heat stencil":
            raise RuntimeError("out of memory")
        self._given = args["x"], cotangent

    def forward(self) -> None:
        pass

    def gradient(self) -> tuple[Any, ...]:
        return (2 * self._given[0] * self._given[1],)

    @staticmethod
    def wait(results: object) -> None:
        del results


def test_frameworks_go_on_after_a_failure(
    script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = script("frameworks")
    assert {case.name for case in module.CASES} >= module.OUTPUTS.keys()

    kernel = FakeKernel()
    args = {"x": np.arange(5.0), "y": np.ones(5), "v": np.ones(5)}
    launch = SimpleNamespace(kernel=kernel, where=None, args=args, shadows={})
    cases = [
        SimpleNamespace(name=name, size="5", label=f"{name}, 5", artifact="a", launch=lambda _: launch)
        for name in ("elementwise", "heat stencil")
    ]
    monkeypatch.setattr(module, "CASES", cases)
    monkeypatch.setattr(module, "FRAMEWORKS", {"fake": "fake_framework", "missing": "no_such_framework"})
    monkeypatch.setitem(sys.modules, "fake_framework", SimpleNamespace(Runs=FakeRuns))
    monkeypatch.setattr(module.adgen, "load", lambda *_, **__: [kernel])
    monkeypatch.setattr(module, "device_name", lambda: "a GPU")
    monkeypatch.setattr(module.AdgenRuns, "wait", staticmethod(lambda _: None))
    monkeypatch.setattr(module, "cp", fake_cupy())
    output = tmp_path / "frameworks.json"
    assert run(module, monkeypatch, str(tmp_path), "--output", str(output)) == 1
    said = capsys.readouterr().err
    assert "elementwise, 5, missing: FAILED, ModuleNotFoundError" in said
    assert "heat stencil, 5, fake: FAILED, RuntimeError: out of memory" in said
    rows = json.loads(output.read_text())
    measured = [(row["case"], row["library"]) for row in rows]
    assert measured == [("elementwise", "adgen"), ("elementwise", "fake"), ("heat stencil", "adgen")]
    assert rows[1]["difference"] == pytest.approx(0.001 / 2.001)


def fake_cupy() -> Any:  # noqa: ANN401
    names = ("ones_like", "abs", "maximum")
    pool = SimpleNamespace(free_all_blocks=lambda: None)
    functions = {name: getattr(np, name) for name in names}
    return SimpleNamespace(**functions, from_dlpack=np.asarray, get_default_memory_pool=lambda: pool)


def test_a_time_loop_swaps_its_arrays(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launches as a tape sees them, and what it is asked."""
    module = script("case")
    a, b = np.zeros(2), np.ones(2)
    launched: list[tuple[bool, ...]] = []
    asked: list[object] = []

    class FakeTape:
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def gradient(self, *arguments: object) -> None:
            asked.extend(arguments)

    monkeypatch.setattr(module.adgen, "Tape", FakeTape)
    kernel = {(1, 1): lambda src, dst: launched.append((src is a, dst is b))}
    launch = module.Launch(kernel, (1, 1), {"src": a, "dst": b}, {"src": b})
    module.TimeLoop(3, "src", "dst")(launch)["gradient"]()
    assert launched == [(True, True), (False, False), (True, True)]
    assert asked[0] is b
    assert asked[1] is a
    module.TimeLoop(3, "src", "dst", renewed=True)(launch)["gradient"]()
    assert launched[3:] == [(True, True), (False, False), (False, False)]
