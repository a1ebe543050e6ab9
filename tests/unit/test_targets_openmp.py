"""From gradient IR to a host library."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeProcess, writes_output
from stage_support import AFTER_ENZYME, OPT, REFLECTION, kernel, parameter, plan_of, refusal, workspace_in

from enzyme_driver import processor
from enzyme_driver.errors import CompilerCrashError, RefusedError
from enzyme_driver.model import Language, TargetEntry
from enzyme_driver.settings import Settings
from enzyme_driver.stages.differentiate import GradientIR
from enzyme_driver.stages.plan import Plan
from enzyme_driver.stages.prepare import Prepared
from enzyme_driver.stages.workspace import EMIT, Workspace
from enzyme_driver.targets import openmp
from enzyme_driver.targets.openmp import HostCode

LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
RETARGET = f"adgen-canonicalize-nvvm,adgen-retarget-host<x86_64-pc-linux-gnu;{LAYOUT}>,"
FROM_DEVICE = f"{AFTER_ENZYME}{RETARGET}"
FROM_HOST = (
    "adgen-lower-overwrites,adgen-show-bits,adgen-fork-regions,adgen-expand-copy-adjoints,adgen-add-atomically,adgen-keep-once,adgen-forget-guards,adgen-loosen-alignments,"
    "adgen-exact-flags,adgen-mark-unchanged<adgen_gradient_>,"
    "globaldce,adgen-forget-results,function(adce),"
    "adgen-recompute-iterations,always-inline,function(sroa,early-cse,instsimplify,simplifycfg),adgen-own-memory,adgen-sum-captured,adgen-openmp-teams,"
    f"adgen-link</build/rules.bc;/cuda/libdevice.bc>,{RETARGET}"
)
KEEP = "adgen-keep-memory,"
ENTRIES = "adgen-host-entries,globaldce,adgen-strip-debug"
SPLIT = (
    "always-inline,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,gvn,simplifycfg,loop-simplify,lcssa),"
    "adgen-split-threads,"
)
PARTS = "function(simplifycfg,loop-simplify,lcssa),adgen-part-additions,"
THREAD_LOOPS = (
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa),"
    "adgen-clamp-loops,function(loop(indvars),loop-simplify,lcssa),adgen-sum-threads,"
    f"{PARTS}adgen-vector-math<256>,"
)
WHOLE = (
    "cgscc(inline),function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(loop-rotate,licm),dse),"
)
VALUES = (
    "function(sccp,instcombine<no-verify-fixpoint>,correlated-propagation,simplifycfg,"
    "gvn,instcombine<no-verify-fixpoint>),"
)
KEPT, SKIP = "adgen-recompute-kept,", "adgen-skip-zeros,"
KEEP_RESULTS = "function(loop-simplify),adgen-keep-results,"


@pytest.fixture
def workspace(
    tmp_path: Path, settings: Settings, fake_process: FakeProcess, monkeypatch: pytest.MonkeyPatch
) -> Workspace:
    monkeypatch.setattr(processor, "bits_of_vector_math", lambda: 256)
    fake_process.reply("opt", effect=writes_output())
    fake_process.reply("emit.py")
    fake_process.reply("clang++")
    return workspace_in(tmp_path, settings, fake_process)


def finish(
    workspace: Workspace,
    plan: Plan | None = None,
    language: Language = "cuda",
    refused: dict[str, RefusedError] | None = None,
) -> HostCode:
    path = workspace.file("k.gradient.ll")
    gradient = GradientIR(path, Prepared(path, {}, {}, counted=True, fewest=True, split=False), refused or {})
    return openmp.finish(gradient, plan or plan_of("a"), language, "libk.so", workspace, fast_math=False)


@pytest.mark.parametrize(("language", "first"), [("cuda", FROM_DEVICE), ("c++", FROM_HOST)])
def test_the_processes(language: Language, first: str, workspace: Workspace, fake_process: FakeProcess) -> None:
    made = finish(workspace, language=language)
    ends = ("gradient.ll", "entries.ll", "host.ll", "host.o")
    gradient, entered, ir, compiled = (str(workspace.file(f"k.{end}")) for end in ends)
    library, cpu = str(workspace.file("libk.so")), processor.baseline()
    loops = f"{SPLIT}{THREAD_LOOPS}" if language == "cuda" else f"{VALUES}{KEPT}{SKIP}{KEEP_RESULTS}{WHOLE}{PARTS}"
    assert fake_process.argvs == [
        (*OPT, REFLECTION, f"-passes={first}always-inline,{KEEP}{ENTRIES}", gradient, "-S", "-o", entered),
        (*OPT, f"-mcpu={cpu}", f"-passes={loops}default<O3>", entered, "-S", "-o", ir),
        (sys.executable, "-P", str(EMIT), ir, compiled, cpu),
        (
            *("/llvm/bin/clang++", "-shared", compiled, "/build/host_runtime.o", "-o", library),
            *("/llvm/lib/libomp.so.5", "-lm", "-Wl,-rpath,$ORIGIN", "-Wl,--no-undefined"),
        ),
    ]
    assert (str(made.ir), str(made.library), made.libomp) == (ir, library, Path("/llvm/lib/libomp.so.5"))


@pytest.mark.parametrize("name", ["split-threads", "clamp-loops", "sum-threads", "part-additions", "vector-math"])
def test_what_is_done_with_threads_can_be_left_out(workspace: Workspace, fake_process: FakeProcess, name: str) -> None:
    without = replace(workspace.settings, disable=frozenset({name}))
    finish(replace(workspace, settings=without))
    passes = next(part for part in fake_process.argvs[1] if part.startswith("-passes="))
    assert f"adgen-{name}" in f"{SPLIT}{THREAD_LOOPS}"
    assert f"adgen-{name}" not in passes


def test_rules_of_the_host_can_be_left_out(workspace: Workspace, fake_process: FakeProcess) -> None:
    finish(replace(workspace, settings=replace(workspace.settings, disable=frozenset({"host-rules"}))))
    assert f"-passes={FROM_DEVICE.replace('adgen-host-rules,', '')}" in " ".join(fake_process.argvs[0])


@pytest.mark.parametrize("name", ["forget-results", "recompute-iterations", "own-memory", "sum-captured"])
def test_what_is_done_in_cpp_can_be_left_out(workspace: Workspace, fake_process: FakeProcess, name: str) -> None:
    without = replace(workspace.settings, disable=frozenset({name}))
    finish(replace(workspace, settings=without), language="c++")
    passes = next(part for part in fake_process.argvs[0] if part.startswith("-passes="))
    assert f"adgen-{name}," in FROM_HOST
    assert f"adgen-{name}," not in passes


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("recompute-kept", f"{SKIP}{KEEP_RESULTS}{WHOLE}{PARTS}"),
        ("skip-zeros", f"{KEPT}{KEEP_RESULTS}{WHOLE}{PARTS}"),
        ("keep-results", f"{KEPT}{SKIP}{WHOLE}{PARTS}"),
        ("part-additions", f"{KEPT}{SKIP}{KEEP_RESULTS}"),
    ],
)
def test_what_is_done_to_sweeps_can_be_left_out(
    workspace: Workspace, fake_process: FakeProcess, name: str, left: str
) -> None:
    without = replace(workspace.settings, disable=frozenset({name}))
    finish(replace(workspace, settings=without), language="c++")
    assert f"-passes={VALUES}{left}default<O3>" in fake_process.argvs[1]


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


def test_a_link_that_fails_is_a_crash(workspace: Workspace, fake_process: FakeProcess) -> None:
    said = "/usr/bin/ld: k.host.o: undefined reference to `cblas_ddot'\nclang++: error: linker command failed\n"
    fake_process.reply("clang++", returncode=1, stderr=said)
    with pytest.raises(CompilerCrashError, match="link failed") as caught:
        finish(workspace)
    assert caught.value.log is not None
    assert "cblas_ddot" in caught.value.log.read_text()
