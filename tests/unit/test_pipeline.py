"""The whole way with a fake process for every tool: which processes run, and what becomes of their answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fakes import Argv, FakeProcess, output_of
from stage_support import refusal, tools, usage, writes

from enzyme_driver import artifact, pipeline, request
from enzyme_driver.artifact import Artifact
from enzyme_driver.errors import (
    CacheError,
    CompilerCrashError,
    NameNotFoundError,
    RefusedError,
    SourceError,
    ToolchainError,
    UsageError,
)
from enzyme_driver.request import Request
from enzyme_driver.settings import Settings
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.toolchain import Toolchain

POINTER = {"kind": "pointer", "name": "pointer", "size": 8, "const": True, "restrict": False, "reference": False}
ARRAY = POINTER | {"pointee": {"kind": "float", "name": "float", "size": 4}}
VOID = {"kind": "void", "name": "void", "size": 0}


SLOTS = """namespace ns {
template <typename T, int N> __global__ void slots(T *x) { __shared__ Slot s[N]; x[0] = s[0].a; }
__global__ void a(const float *x);
}
"""


class Compilers:
    """Answers for all tools; the kernels that `describe` finds are those of `symbols`."""

    def __init__(self, run: FakeProcess, folder: Path) -> None:
        self.run = run
        self.source = folder / "k.cu"
        self.source.write_text("__global__ void a(const float *x);\n")
        run.reply("clang", effect=writes("ir", "/include/h.cuh"))
        run.reply("catalyst", effect=self._enzyme)
        run.reply("emit.py", effect=lambda argv: Path(argv[4]).write_text("code"))
        run.reply("ptxas", effect=lambda argv: output_of(argv).write_bytes(b"\x7fELF"))
        run.reply("clang++", effect=writes("library"))
        self.find("a")

    def find(self, *symbols: str, archs: tuple[str, ...] = ("sm_90",), instances: tuple[str, ...] = ()) -> None:
        entries = [self._described(symbol) for symbol in symbols]
        numbered = {str(number): symbol for number, symbol in enumerate(instances)}
        self.run.reply(
            "opt", "-disable-output", stdout=json.dumps({"entries": entries, "instances": numbered, "variables": []})
        )
        facts: dict[str, dict[str, object]] = {
            symbol: {
                "static_shared_bytes": 0,
                "dynamic_shadow_bytes": 0,
                "dynamic_shared": False,
                "heap": False,
                "lent": [],
                "tape_size_from": None,
                "batch": False,
                "unwritten": [],
            }
            for symbol in symbols
        }
        for arch in archs:
            stem = f"k.{arch}"
            self.run.reply("opt", f"{stem}.prepared.ll", stdout=usage(*symbols), effect=writes())
            kernels = json.dumps({"kernels": facts, "tangents": facts, "seconds": facts, "cooperative": []})
            self.run.reply("opt", f"k.{arch}.cuda.ll", stdout=kernels, effect=writes())
            for end in ("entries", "host", "gfx90a", "gfx942"):
                self.run.reply("opt", f"{stem}.{end}.ll", effect=writes())

    def _described(self, symbol: str) -> dict[str, Any]:
        place = {"directory": str(self.source.parent), "file": "k.cu", "line": 1}
        facts = {"symbol": symbol, "name": symbol, "kernel": True, "local": False, "returns": VOID}
        return facts | {"dynamic_shared": False} | place | {"parameters": [{"name": "x", "type": ARRAY}]}

    def _enzyme(self, _: Argv) -> None:
        env = self.run.calls[-1].env
        assert env is not None
        Path(env["ADGEN_WORKER_OUTPUT"]).write_text("gradient")

    @property
    def started(self) -> list[str]:
        """The tools in the order in which they were started; "headers" is clang when it compiles its own, "object" when
        it writes code of the host."""

        def name(argv: Argv) -> str:
            if "-emit-pch" in argv:
                return "headers"
            return "object" if "-fPIC" in argv else Path(argv[2] if argv[1] == "-P" else argv[0]).name

        return [name(argv) for argv in self.run.argvs]


@pytest.fixture
def compilers(fake_process: FakeProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compilers:
    def found(_: Settings) -> Toolchain:
        return replace(tools(), libomp=omp)

    omp = tmp_path / "libomp.so.5"
    omp.write_text("omp")
    monkeypatch.setattr("enzyme_driver.toolchain.ensure", found)
    monkeypatch.setattr(pipeline, "Workspace", partial(Workspace, run=fake_process))
    return Compilers(fake_process, tmp_path)


@pytest.fixture
def build(compilers: Compilers, tmp_path: Path, settings: Settings) -> Callable[..., Artifact]:
    def built(**options: Any) -> Artifact:  # noqa: ANN401
        return pipeline.build(wanted(compilers, **options), tmp_path / "made", settings=settings)

    return built


def wanted(compilers: Compilers, **options: Any) -> Request:  # noqa: ANN401
    return request.new(compilers.source, **options)


def test_both_targets(build: Callable[..., Artifact], compilers: Compilers) -> None:
    made = build(targets=["openmp", "cuda"])
    assert compilers.started[:6] == ["headers", "clang", "opt", "opt", "catalyst", "opt"]
    assert sorted(compilers.started[6:]) == ["clang++", "emit.py", "object", "opt", "opt", "opt", "ptxas"]
    assert {path.name for path in made.folder.iterdir()} == {
        *("manifest.json", "dependencies.json", "k.py", "k.h", "libk.so", "libomp.so.5"),
        *("k.sm_90.ptx", "k.sm_90.cubin"),
    }


def test_one_target_needs_only_its_own_tools(build: Callable[..., Artifact], compilers: Compilers) -> None:
    build(targets=["openmp"])
    assert "ptxas" not in compilers.started
    assert compilers.started.count("opt") == 5


def test_each_architecture_is_read_and_differentiated_by_itself(
    build: Callable[..., Artifact], compilers: Compilers
) -> None:
    compilers.find("a", archs=("sm_80", "sm_90"))
    made = build(targets=["openmp", "cuda"], archs=["sm_80", "sm_90"])
    assert made.archs == ("sm_80", "sm_90")
    assert compilers.started.count("clang") == compilers.started.count("catalyst") == 2
    assert compilers.started.count("clang++") == 1


def test_what_was_read_is_written_down(build: Callable[..., Artifact]) -> None:
    made = build()
    assert json.loads((made.folder / artifact.DEPENDENCIES).read_text()) == ["/include/h.cuh"]


def test_usage_reaches_the_signature(build: Callable[..., Artifact]) -> None:
    (entry,) = build().entries
    assert (entry.signature["x"].reads, entry.signature["x"].writes) == (True, False)


def test_a_name_that_the_file_does_not_emit_is_asked_for(
    build: Callable[..., Artifact], compilers: Compilers, fake_process: FakeProcess
) -> None:
    def effect(argv: Argv) -> None:
        writes("ir")(argv)
        compilers.find("a", "_Z4axpyIfE", instances=("_Z4axpyIfE",))

    fake_process.reply("k.instances.cu", effect=effect)
    made = build(names=["axpy<float>"])
    assert [entry.signature.symbol for entry in made.entries] == ["_Z4axpyIfE"]
    assert [entry.signature.name for entry in made.entries] == ["axpy<float>"]
    assert compilers.started[:5] == ["headers", "clang", "opt", "clang", "opt"]


def test_a_name_that_cannot_be_made_is_not_found(build: Callable[..., Artifact], fake_process: FakeProcess) -> None:
    fake_process.reply("k.instances.cu", returncode=1, stderr="k.cu:1:1: error: no such thing\n")
    with pytest.raises(NameNotFoundError, match="'b'") as caught:
        build(names=["b"])
    assert "a" in caught.value.hint


def test_why_clang_does_not_read_a_template_is_told(
    build: Callable[..., Artifact], compilers: Compilers, fake_process: FakeProcess
) -> None:
    compilers.source.write_text(SLOTS)
    column = SLOTS.splitlines()[1].index("__shared__") + 1
    said = f"{compilers.source}:2:{column}: error: initialization is not supported for __shared__ variables\n"
    fake_process.reply("k.instances.cu", returncode=1, stderr=said)
    fake_process.reply("-emit-pch", "k.cu", returncode=1, stderr=said)
    with pytest.raises(SourceError, match="not supported for __shared__"):
        build(names=["slots<float, 32>"])


def test_an_arch_that_is_not_known_starts_nothing(build: Callable[..., Artifact], compilers: Compilers) -> None:
    with pytest.raises(ToolchainError, match="sm_120"):
        build(targets=["cuda"], archs=["sm_120"])
    assert compilers.started == []


def test_cpp_has_no_cuda_target(compilers: Compilers, tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "f.cpp"
    path.write_text("double f(double);")
    with pytest.raises(UsageError, match="no cuda target"):
        pipeline.build(request.new(path, targets=["cuda"]), tmp_path / "made", settings=settings)
    with pytest.raises(UsageError, match="no stage 'ptx'"):
        pipeline.emit(request.new(path), "ptx", settings=settings)
    assert compilers.started == []


def test_a_file_that_does_not_compile_leaves_nothing(
    build: Callable[..., Artifact], fake_process: FakeProcess, tmp_path: Path
) -> None:
    fake_process.reply("clang", returncode=1, stderr="k.cu:3:1: error: expected ';'\n")
    with pytest.raises(SourceError, match="expected ';'"):
        build()
    assert not (tmp_path / "made").exists()


def test_forward_mode_is_made_on_request(build: Callable[..., Artifact]) -> None:
    made = build(targets=["openmp", "cuda"], modes=["forward"])
    (entry,) = made.entries
    assert {target: each.gradient for target, each in entry.forward.items()} == {
        "openmp": "a__tangent",
        "cuda": "a__tangent",
    }
    assert made.manifest.options.modes == ("reverse", "forward")


def test_without_the_request_there_is_no_forward_mode(build: Callable[..., Artifact]) -> None:
    made = build()
    assert made.entries[0].forward == {}
    assert made.manifest.options.modes == ("reverse",)


def test_what_has_a_tangent_only_is_no_error(
    build: Callable[..., Artifact], compilers: Compilers, fake_process: FakeProcess
) -> None:
    def enzyme(_: Argv) -> None:
        env = fake_process.calls[-1].env or {}
        asked = "gradients of a" in Path(env["ADGEN_WORKER_INPUT"]).read_text()
        only = env.get("ADGEN_WORKER_ONLY", "__enzyme_autodiff_")
        if not (asked and only.startswith("__enzyme_autodiff_")):
            Path(env["ADGEN_WORKER_OUTPUT"]).write_text("made")

    def prepared(argv: Argv) -> None:
        asked = "gradients of a" if "adgen-make-gradients<a=" in " ".join(argv) else "no gradient"
        output_of(argv).write_text(asked)

    fake_process.reply("opt", "k.sm_90.prepared.ll", stdout=usage("a"), effect=prepared)
    fake_process.reply("catalyst", effect=enzyme)
    (entry,) = build(names=["a"], modes=["forward"]).entries
    assert entry.targets["openmp"].gradient_refused is not None
    assert entry.forward["openmp"].gradient == "a__tangent"
    with pytest.raises(RefusedError):
        build(names=["a"])
    assert compilers.started


def test_a_refused_kernel_among_others_is_kept_with_its_reason(
    build: Callable[..., Artifact], compilers: Compilers, fake_process: FakeProcess
) -> None:
    compilers.find("a", "b")
    fake_process.reply("opt", "k.sm_90.prepared.ll", stdout=usage("a", "b"), stderr=refusal("b"), effect=writes())
    a, b = build().entries
    assert a.targets["openmp"].gradient == "a__gradient"
    assert b.targets["openmp"].gradient is None
    assert b.targets["openmp"].gradient_refused is not None
    assert (b.targets["openmp"].gradient_refused.reason, b.targets["openmp"].gradient_refused.line) == (
        *("cannot differentiate it", 3),
    )


@pytest.mark.parametrize("stage", ["prepared", "entries"])
def test_a_kernel_over_which_a_tool_crashes_leaves_the_others(
    stage: str, build: Callable[..., Artifact], compilers: Compilers, fake_process: FakeProcess
) -> None:
    compilers.find("a", "b", "c")

    def end(argv: Argv) -> None:
        if any("b=" in word for word in [argv for argv in fake_process.argvs if "prepared" in str(argv[-1])][-1]):
            raise CompilerCrashError("opt was ended by SIGSEGV")
        writes()(argv)

    fake_process.reply("opt", f"k.sm_90.{stage}.ll", stdout=usage("a", "b", "c"), effect=end)
    entries = {entry.signature.name: entry.targets["openmp"] for entry in build(targets=["openmp"]).entries}
    assert [entries[name].primal is not None for name in "abc"] == [True, False, True]
    assert entries["b"].primal_refused is not None
    assert "SIGSEGV" in entries["b"].primal_refused.reason
    assert sum("primal.ll" in argv[-1] for argv in fake_process.argvs if "clang" in argv[0]) == 1
    with pytest.raises(CompilerCrashError, match="SIGSEGV"):
        build(targets=["openmp"], names=["b"])


@pytest.mark.parametrize("options", [{"names": ["a"]}, {}], ids=["asked for", "alone"])
def test_a_refused_kernel_without_others_is_an_error(
    options: dict[str, Any], build: Callable[..., Artifact], fake_process: FakeProcess, tmp_path: Path
) -> None:
    fake_process.reply("opt", "k.sm_90.prepared.ll", stdout=usage("a"), stderr=refusal("a"), effect=writes())
    with pytest.raises(RefusedError, match="cannot differentiate it"):
        build(**options)
    assert not (tmp_path / "made").exists()


def test_a_kernel_that_only_the_gpu_can_run(
    build: Callable[..., Artifact], compilers: Compilers, fake_process: FakeProcess
) -> None:
    fake_process.reply("opt", "k.sm_90.entries.ll", stderr=refusal("a", "barriers are not supported"), effect=writes())
    (entry,) = build(targets=["openmp", "cuda"]).entries
    assert entry.targets["cuda"].gradient == "a__gradient"
    assert (entry.targets["openmp"].primal, entry.targets["openmp"].gradient) == (None, None)
    with pytest.raises(RefusedError, match="barriers are not supported"):
        build(targets=["openmp"])
    assert compilers.started[-1] != "ptxas"


@pytest.mark.parametrize("stage", pipeline.STAGES)
def test_emit(stage: str, compilers: Compilers, settings: Settings) -> None:
    shown = {"primal": "ir", "gradient": "gradient", "ptx": "code", "gfx90a": "code", "gfx942": "code"}
    assert pipeline.emit(wanted(compilers), stage, settings=settings) == shown.get(stage, "made")


def test_emit_of_a_stage_that_is_not_there(compilers: Compilers, settings: Settings) -> None:
    with pytest.raises(UsageError, match="'sass'"):
        pipeline.emit(wanted(compilers), "sass", settings=settings)
    assert compilers.started == []


def test_the_files_are_kept_also_after_a_failure(
    compilers: Compilers, settings: Settings, tmp_path: Path, fake_process: FakeProcess
) -> None:
    fake_process.reply("opt", "k.sm_90.prepared.ll", stdout=usage("a"), stderr=refusal("a"), effect=writes())
    kept = replace(settings, keep=tmp_path / "deep" / "kept")
    with pytest.raises(RefusedError):
        pipeline.build(wanted(compilers), tmp_path / "made", settings=kept)
    assert {"k.sm_90.primal.ll", "k.sm_90.prepared.ll"} <= {
        path.name for path in (tmp_path / "deep" / "kept").iterdir()
    }


def test_a_folder_that_cannot_keep_them_is_said_first(compilers: Compilers, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CacheError, match="cannot be written") as caught:
        pipeline.build(
            wanted(compilers), tmp_path / "made", settings=replace(settings, keep=tmp_path / "file" / "kept")
        )
    assert "ADGEN_KEEP" in caught.value.hint
    assert compilers.started == []


def test_progress_is_told(compilers: Compilers, settings: Settings, tmp_path: Path) -> None:
    said: list[str] = []
    pipeline.build(wanted(compilers), tmp_path / "made", settings=settings, progress=said.append)
    assert list(dict.fromkeys(said))[:2] == ["clang reads the file", "opt looks at the signatures of the file"]
    assert "Enzyme differentiates the file" in said
