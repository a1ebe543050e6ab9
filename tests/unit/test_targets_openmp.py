"""From gradient IR to a host library."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeProcess, writes_output
from stage_support import FLOAT, OPT, REFLECTION, kernel, parameter, plan_of, refusal, workspace_in

from enzyme_driver import pipelines, processor
from enzyme_driver.errors import CompilerCrashError, RefusedError
from enzyme_driver.model import DataType, Language, StructField, TargetEntry
from enzyme_driver.pipelines import Pipeline
from enzyme_driver.settings import Settings
from enzyme_driver.stages.differentiate import GradientIR
from enzyme_driver.stages.plan import Plan
from enzyme_driver.stages.prepare import PreparedModule
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets import openmp
from enzyme_driver.targets.openmp import HostCode

LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
WORDS = {
    "rules": "/build/rules.bc",
    "libdevice": "/cuda/libdevice.bc",
    "triple": "x86_64-pc-linux-gnu",
    "layout": LAYOUT,
    "directions": "16",
    "vector_bits": "256",
}
FACTS = {"exact", "host", "vector math", "fused"}


@pytest.fixture
def workspace(
    tmp_path: Path, settings: Settings, fake_process: FakeProcess, monkeypatch: pytest.MonkeyPatch
) -> Workspace:
    monkeypatch.setattr(processor, "bits_of_vector_math", lambda: 256)
    monkeypatch.setattr(processor, "fuses", lambda: True)
    fake_process.reply("opt", effect=writes_output())
    fake_process.reply("clang")
    fake_process.reply("clang++")
    return workspace_in(tmp_path, settings, fake_process)


def finish(
    workspace: Workspace,
    plan: Plan | None = None,
    language: Language = "cuda",
    refused: dict[str, RefusedError] | None = None,
) -> HostCode:
    path = workspace.file("k.gradient.ll")
    gradient = GradientIR(path, PreparedModule(path, {}, {}, counted=True, fewest=True, split=False), refused or {})
    return openmp.finish(gradient, plan or plan_of("a"), language, "libk.so", workspace, fast_math=False)


@pytest.mark.parametrize(
    ("language", "host", "loops"),
    [
        ("cuda", pipelines.HOST_FROM_CUDA, pipelines.THREADS),
        ("c++", pipelines.HOST_FROM_CPP, pipelines.SWEEPS),
    ],
)
@pytest.mark.parametrize("disabled", [set(), {"narrow-iteration-space", "skip-zeros", "host-rules", "sum-captured"}])
def test_the_processes(
    language: Language,
    host: Pipeline,
    loops: Pipeline,
    disabled: set[str],
    workspace: Workspace,
    fake_process: FakeProcess,
) -> None:
    settings = replace(workspace.settings, disable=frozenset(disabled))
    made = finish(replace(workspace, settings=settings), language=language)
    ends = ("gradient.ll", "entries.ll", "host.ll", "host.o")
    gradient, entered, ir, compiled = (str(workspace.file(f"k.{end}")) for end in ends)
    library, cpu = str(workspace.file("libk.so")), processor.baseline()
    in_order = [openmp.IN_ORDER] if language == "c++" else []
    first, second = (pipelines.render(each, WORDS, facts=FACTS, disabled=disabled) for each in (host, loops))
    assert fake_process.argvs == [
        (*OPT, REFLECTION, f"-passes={first}", gradient, "-S", "-o", entered),
        (*OPT, f"-mcpu={cpu}", *in_order, f"-passes={second}", entered, "-S", "-o", ir),
        (
            *("/llvm/bin/clang", f"--target={processor.machine().triple}", "-Xclang", "-target-cpu", "-Xclang", cpu),
            *("-O3", "-Xclang", "-disable-llvm-passes", "-fPIC", "-w", "-c", ir, "-o", compiled),
        ),
        (
            *("/llvm/bin/clang++", "-shared", compiled, "/build/host_runtime.o", "-o", library),
            *("/llvm/lib/libomp.so.5", "-lm", "-Wl,-rpath,$ORIGIN", "-Wl,--no-undefined"),
        ),
    ]
    assert (str(made.ir), str(made.library), made.libomp) == (ir, library, Path("/llvm/lib/libomp.so.5"))


def test_entries(workspace: Workspace) -> None:
    made = finish(workspace)
    assert made.entries == {"a": TargetEntry("a__primal", "a__gradient")}
    assert made.forward == {"a": TargetEntry("a__primal", "a__tangent")}


def test_what_has_no_counterpart_here_has_neither_primal_nor_gradient(
    workspace: Workspace, fake_process: FakeProcess
) -> None:
    fake_process.reply("opt", stderr=refusal("b", "shared memory is not supported"))
    made = finish(workspace, plan_of("a", "b"))
    entry = made.entries["b"]
    assert (entry.primal, entry.gradient) == (None, None)
    assert entry.primal_refused is not None
    assert entry.primal_refused == entry.gradient_refused
    assert entry.primal_refused.reason == "shared memory is not supported"
    assert list(made.refused) == ["b"]
    assert made.entries["a"].gradient == "a__gradient"


def test_what_enzyme_could_not_do_still_has_a_primal(workspace: Workspace) -> None:
    entry = finish(workspace, refused={"a": RefusedError("Enzyme cannot")}).entries["a"]
    assert (entry.primal, entry.gradient) == ("a__primal", None)
    assert entry.gradient_refused is not None
    assert entry.gradient_refused.reason == "Enzyme cannot"
    assert (entry.gradient_refused.file, entry.gradient_refused.line) == ("/home/u/k.cu", 7)


def test_nothing_to_differentiate_is_said(workspace: Workspace) -> None:
    entry = finish(workspace, Plan((kernel("a", parameter("x")),))).entries["a"]
    assert entry.gradient is None
    assert entry.gradient_refused is not None
    assert entry.gradient_refused.reason == "a has no parameter to differentiate"
    assert "active" in entry.gradient_refused.hint


def test_a_generators_state_has_no_derivative(workspace: Workspace) -> None:
    state = DataType("curandStateXORWOW", "struct", 48, fields=(StructField("boxmuller_extra", 36, FLOAT),))
    entry = finish(workspace, Plan((kernel("a", parameter("states", state)),))).entries["a"]
    assert entry.gradient_refused is not None
    assert "hold none" in entry.gradient_refused.hint


def test_a_link_that_fails_is_a_crash(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply("clang++", returncode=1, stderr="ld.lld: error: cannot open output file: no space\n")
    with pytest.raises(CompilerCrashError, match="link failed") as caught:
        finish(workspace)
    assert caught.value.log is not None
    assert "no space" in caught.value.log.read_text()


@pytest.mark.parametrize(
    "said",
    [
        "/usr/bin/ld: k.host.o: in function `a__primal':\nk.cu:(a__primal+0x4): undefined reference to `cblas_ddot'\n",
        "ld.lld: error: undefined symbol: cblas_ddot\n>>> referenced by k.cu\n>>>   k.host.o:(a__primal_call)\n",
    ],
)
def test_what_no_library_has_is_refused(workspace: Workspace, fake_process: FakeProcess, said: str) -> None:
    fake_process.reply("clang++", returncode=1, stderr=said)
    with pytest.raises(RefusedError, match="a calls cblas_ddot, which is defined nowhere") as caught:
        finish(workspace)
    assert caught.value.location is not None
    assert caught.value.location.line == 7
