"""The passes before Enzyme, and what they say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeProcess, writes_output
from stage_support import (
    INT,
    OPT,
    REFLECTION,
    kernel,
    parameter,
    plan_of,
    primal_in,
    refusal,
    usage,
    workspace_in,
)

from enzyme_driver import pipelines, request
from enzyme_driver.errors import CompilerCrashError, Location, RefusedError, UsageError
from enzyme_driver.settings import Settings
from enzyme_driver.stages import prepare
from enzyme_driver.stages.frontend import PrimalIR
from enzyme_driver.stages.plan import Derivatives, Plan, derivatives
from enzyme_driver.stages.prepare import ParameterUse
from enzyme_driver.stages.workspace import Workspace

BRANCHES = ("-phi-node-folding-threshold=0", "-two-entry-phi-node-folding-threshold=0")
LOADS = "-enable-load-in-loop-pre=false"
FLAGS = ("-vectorize-loops=false", "-vectorize-slp=false", "-unroll-runtime=false", "-unroll-allow-partial=false")

PLAN = Plan((kernel("a", parameter("x", activity="duplicated"), parameter("n", INT, "scalar")), kernel("b")))


NONE = Plan(())
WORDS = {
    "user_rules": "",
    "symbols": "a;b",
    "libdevice": "/cuda/libdevice.bc",
    "plan": "a=duplicated:const;b=duplicated",
    "gradients": "b=duplicated",
    "exported": "preserve-gv=adgen_body_a;preserve-gv=adgen_body_b;preserve-gv=adgen_gradient_b",
}
ONCE = {"once"}
"""What is so where the gradient alone is asked for."""
DEVICE, HOST = (pipelines.render(each, WORDS, facts=ONCE) for each in (pipelines.PREPARE_CUDA, pipelines.PREPARE_CPP))
ALL, ONLY_B = derivatives(PLAN, ["reverse"]), Derivatives(PLAN.only(["b"]), NONE)
FORWARD = derivatives(PLAN, ["reverse", "forward"])


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings, fake_process: FakeProcess) -> Workspace:
    fake_process.reply("opt", stdout=usage("a", "b"), effect=writes_output())
    return workspace_in(tmp_path, settings, fake_process)


def test_opt_for_the_device(workspace: Workspace, fake_process: FakeProcess) -> None:
    primal = primal_in(workspace)
    made = prepare.prepare(primal, PLAN, ONLY_B, workspace, fast_math=False)
    output = workspace.file("k.sm_90.prepared.ll")
    assert fake_process.argvs == [
        (*OPT, *FLAGS, REFLECTION, f"-passes={DEVICE}", str(primal.path), "-S", "-o", str(output))
    ]
    assert made.path == output
    assert made.refused == {}


def test_opt_for_the_host(workspace: Workspace, fake_process: FakeProcess) -> None:
    primal = PrimalIR(workspace.file("f.primal.ll"), "c++", ())
    prepare.prepare(primal, PLAN, ONLY_B, workspace, fast_math=False)
    output = workspace.file("f.prepared.ll")
    assert fake_process.argvs == [
        (*OPT, *FLAGS, *BRANCHES, LOADS, REFLECTION, f"-passes={HOST}", str(primal.path), "-S", "-o", str(output))
    ]


def test_branches_are_folded_on_request(workspace: Workspace, fake_process: FakeProcess) -> None:
    primal = PrimalIR(workspace.file("f.primal.ll"), "c++", ())
    without = replace(workspace, settings=replace(workspace.settings, disable=frozenset({"keep-branches"})))
    prepare.prepare(primal, PLAN, ONLY_B, without, fast_math=False)
    assert not set(BRANCHES) & set(fake_process.argvs[0])


def test_fast_square_roots_are_for_fast_math_only(workspace: Workspace, fake_process: FakeProcess) -> None:
    prepare.prepare(primal_in(workspace), PLAN, ALL, workspace, fast_math=True)
    assert REFLECTION not in fake_process.argvs[0]


def test_tangents_are_asked_for_beside_gradients(workspace: Workspace, fake_process: FakeProcess) -> None:
    prepare.prepare(primal_in(workspace), PLAN, FORWARD, workspace, fast_math=False)
    prepare.prepare(PrimalIR(workspace.file("f.primal.ll"), "c++", ()), PLAN, FORWARD, workspace, fast_math=False)
    device, host = (" ".join(argv) for argv in fake_process.argvs)
    asked = (
        "adgen-make-gradients<a=duplicated:const;b=duplicated>,adgen-make-tangents<a=duplicated:const;b=duplicated>,"
    )
    assert asked in device
    assert asked in host
    assert ",adgen-print-usage,adgen-guard-choices,adgen-forward-rules " in device
    assert ",adgen-print-usage,adgen-guard-choices,adgen-call-regions,adgen-forward-rules " in host
    assert ";preserve-gv=adgen_tangent_a;preserve-gv=adgen_tangent_b>" in host


def test_what_the_user_says_of_functions_comes_first(workspace: Workspace, fake_process: FakeProcess) -> None:
    said = request.new("k.cu", inactive=["log"], derivatives={"soft": "soft_gradient"}).user_rules
    prepare.prepare(primal_in(workspace), PLAN, ALL, workspace, fast_math=False, user_rules=said)
    assert "-passes=adgen-name-halves,adgen-user-rules<log;soft=soft_gradient>,adgen-select-kernels<" in " ".join(
        fake_process.argvs[0]
    )
    fake_process.reply("opt", stdout=usage("a", "b"), stderr=refusal("", "there is no function 'log'"))
    with pytest.raises(RefusedError, match="no function 'log'"):
        prepare.prepare(primal_in(workspace), PLAN, ALL, workspace, fast_math=False, user_rules=said)


@pytest.mark.parametrize("name", ["f<float>", "a;b", "f=g", "", "f>"])
def test_only_names_reach_the_passes(name: str) -> None:
    with pytest.raises(UsageError, match="not the name of a function"):
        request.new("k.cu", inactive=[name])
    with pytest.raises(UsageError, match="not the name of a function"):
        request.new("k.cu", derivatives={"f": name})


def test_what_is_refused_in_forward_mode_only(workspace: Workspace, fake_process: FakeProcess) -> None:
    said = refusal("a", "no tangent").replace("{", '{"mode": "forward", ', 1) + refusal("b", "nothing")
    fake_process.reply("opt", stdout=usage("a", "b"), stderr=said)
    made = prepare.prepare(primal_in(workspace), PLAN, FORWARD, workspace, fast_math=False)
    assert {symbol: error.reason for symbol, error in made.refused.items()} == {"b": "nothing"}
    assert {symbol: error.reason for symbol, error in made.refused_forward.items()} == {"a": "no tangent"}


def test_what_is_read_and_written(workspace: Workspace, fake_process: FakeProcess) -> None:
    accesses = '{"a":[{"reads":true,"writes":false},{"reads":false,"writes":true}],"b":[]}'
    said = f'{{"usage":{accesses},"counted":false,"split":true}}'
    fake_process.reply("opt", stdout=said)
    made = prepare.prepare(primal_in(workspace), PLAN, ALL, workspace, fast_math=False)
    assert made.usage == {
        "a": (ParameterUse(reads=True, writes=False), ParameterUse(reads=False, writes=True)),
        "b": (),
    }
    assert not made.counted
    assert made.split


def test_the_fewest_values_are_kept_in_device_code_only(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply("opt", stdout='{"usage":{"a":[],"b":[]},"counted":true,"split":false}')
    primal = primal_in(workspace)
    assert prepare.prepare(primal, PLAN, ALL, workspace, fast_math=False).fewest
    host = replace(primal, language="c++")
    made = prepare.prepare(host, PLAN, ALL, workspace, fast_math=False)
    assert made.counted
    assert not made.fewest


def test_the_first_refusal_of_each_entry_counts(workspace: Workspace, fake_process: FakeProcess) -> None:
    said = "warning: something\n" + refusal("a", "first", 3) + refusal("a", "second", 4) + refusal("b", "third", 5)
    fake_process.reply("opt", stdout=usage("a", "b"), stderr=said)
    made = prepare.prepare(primal_in(workspace), PLAN, ALL, workspace, fast_math=False)
    assert {symbol: error.reason for symbol, error in made.refused.items()} == {"a": "first", "b": "third"}
    assert made.refused["a"].location == Location("/home/u/k.cu", 3, 5)
    assert made.refused["a"].hint == "do"


def test_a_refusal_without_a_place() -> None:
    (made,) = prepare.refusals(
        'adgen-refusal: {"column":0,"entry":"","file":"","hint":"","line":0,"reason":"no"}\n'
    ).values()
    assert made.location is None


def test_a_failing_pass_is_no_fault_of_the_file(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply("opt", returncode=1, stderr="LLVM ERROR: adgen-make-bodies: no function a\n")
    with pytest.raises(CompilerCrashError, match="prepare CUDA failed: LLVM ERROR: adgen-make-bodies: no function a"):
        prepare.prepare(primal_in(workspace), PLAN, ALL, workspace, fast_math=False)


def test_entries_without_gradient_still_have_bodies(workspace: Workspace, fake_process: FakeProcess) -> None:
    prepare.prepare(primal_in(workspace), plan_of("a"), Derivatives(NONE, NONE), workspace, fast_math=False)
    assert ",adgen-make-gradients<>," in fake_process.argvs[0][-5]
