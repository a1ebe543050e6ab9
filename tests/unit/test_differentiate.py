"""Enzyme is run on all entries at once; those that it cannot do are found, and the others go on."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import Argv, Call, FakeProcess, output_of
from stage_support import PLUGIN, kernel, parameter, plan_of, refusal, workspace_in

from enzyme_driver.command import ENDLESS
from enzyme_driver.errors import CompilerCrashError, Location, RefusedError
from enzyme_driver.model import Mode
from enzyme_driver.settings import Settings
from enzyme_driver.stages.differentiate import GradientIR, differentiate
from enzyme_driver.stages.plan import Derivatives, Plan
from enzyme_driver.stages.prepare import PreparedModule
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.toolchain import EnzymeSource, Tool

PREPARED = "k.sm_90.prepared.ll"
ENZYME, VERIFY = "-passes=enzyme", "-passes=adgen-verify-gradients"
CRASH = CompilerCrashError("opt was ended by SIGSEGV", hint="repeat it", log=Path("/logs/enzyme.log"))


class Preparation:
    """Stands for our passes: writes the symbols into the prepared file, and refuses some of them."""

    def __init__(
        self, workspace: Workspace, refuses: Collection[str] = (), *, counted: bool = True, split: bool = False
    ) -> None:
        self.workspace = workspace
        self.counted = counted
        self.split = split
        self.refuses = refuses
        self.asked: list[list[str]] = []
        self.alone: list[bool] = []

    def __call__(self, wanted: Derivatives, *, alone: bool = False) -> PreparedModule:
        symbols = [symbol if mode == "reverse" else f"{symbol}'" for mode, symbol in wanted.units]
        self.asked.append(symbols)
        self.alone.append(alone)
        path = self.workspace.file(PREPARED)
        path.write_text(" ".join(symbols))
        refused = {each: RefusedError(f"{each} has a shuffle") for each in symbols if each in self.refuses}
        return PreparedModule(path, {}, refused, self.counted, self.counted, self.split)


def enzyme_that_fails_on(*symbols: str, how: Callable[[], None] = lambda: None) -> Callable[[Argv], None]:
    """A plugin that writes its output unless it meets one of these."""

    def effect(argv: Argv) -> None:
        source, output = Path(argv[-3]), output_of(argv)
        met = source.read_text().split()
        if set(symbols) & set(met):
            how()
        else:
            output.write_text(f"gradients of {' '.join(met)}")

    return effect


def crash() -> None:
    raise CRASH


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings, fake_process: FakeProcess) -> Workspace:
    fake_process.reply(VERIFY)
    return workspace_in(tmp_path, settings, fake_process, PLUGIN)


def runs_of_enzyme(fake_process: FakeProcess) -> list[Call]:
    return [call for call in fake_process.calls if VERIFY not in call.argv]


def run(
    plan: Plan, workspace: Workspace, prepare: Preparation | None = None, modes: Sequence[Mode] = ("reverse",)
) -> GradientIR:
    return differentiate(plan, modes, prepare or Preparation(workspace), workspace)


def content(made: GradientIR) -> str:
    return made.path.read_text()


def test_the_wheels_executable_loads_the_worker(tmp_path: Path, settings: Settings, fake_process: FakeProcess) -> None:
    workspace = workspace_in(tmp_path, settings, fake_process)
    fake_process.reply(VERIFY)
    output = workspace.file("k.sm_90.gradient.ll")
    fake_process.reply("catalyst", effect=lambda _: output.write_text("made"))
    made = run(plan_of("a"), workspace)
    dummy = workspace.file("empty.mlir")
    (call,) = runs_of_enzyme(fake_process)
    assert call.argv == (
        "/enzyme/catalyst",
        "-enzyme-mincut-cache=1",
        "-enable-load-pre=0",
        str(dummy),
        "--load-pass-plugin=/build/worker.so",
    )
    assert call.env == {"ADGEN_WORKER_INPUT": str(workspace.file(PREPARED)), "ADGEN_WORKER_OUTPUT": str(output)}
    assert call.timeout == settings.timeout
    assert dummy.read_text() == "module {}\n"
    assert made.path == output


def test_a_plugin_is_loaded_into_opt(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on())
    made = run(plan_of("a"), workspace)
    (call,) = runs_of_enzyme(fake_process)
    assert call.argv == (
        *("/llvm/bin/opt", "-load-pass-plugin=/own/LLVMEnzyme-22.so", "-enzyme-mincut-cache=1", "-enable-load-pre=0"),
        *("-passes=enzyme", "-S"),
        *(str(workspace.file(PREPARED)), "-o", str(made.path)),
    )
    assert call.env is None


def test_all_is_kept_where_memory_decides_about_a_loop(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on())
    run(plan_of("a"), workspace, Preparation(workspace, counted=False))
    (call,) = runs_of_enzyme(fake_process)
    assert call.argv[2:5] == ("-enzyme-mincut-cache=0", "-enable-load-pre=0", "-enzyme-loop-invariant-cache=0")


def test_reads_of_local_arrays_are_kept_where_sweeps_are_apart(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on())
    run(plan_of("a"), workspace, Preparation(workspace, split=True))
    (call,) = runs_of_enzyme(fake_process)
    assert call.argv[2:5] == ("-enzyme-mincut-cache=1", "-enable-load-pre=0", "-enzyme-rematerialize=0")


def test_code_that_is_not_valid_is_asked_for_once_more(workspace: Workspace, fake_process: FakeProcess) -> None:
    def effect(argv: Argv) -> None:
        if "-enzyme-rematerialize=0" not in argv:
            raise CompilerCrashError("opt was ended by SIGABRT: LLVM ERROR: function failed verification (4)", hint="")
        output_of(argv).write_text("made")

    fake_process.reply(ENZYME, effect=effect)
    made = run(plan_of("a"), workspace)
    assert (content(made), made.refused) == ("made", {})
    assert len(runs_of_enzyme(fake_process)) == 2


def test_types_are_inferred_less_deeply_where_enzyme_does_not_end(
    workspace: Workspace, fake_process: FakeProcess
) -> None:
    def effect(argv: Argv) -> None:
        if "-enzyme-max-type-depth=2" not in argv:
            raise CompilerCrashError("opt did not end within 60 s and was stopped", hint="")
        output_of(argv).write_text("made")

    fake_process.reply(ENZYME, effect=effect)
    made = run(plan_of("a"), workspace)
    assert (content(made), made.refused) == ("made", {})
    assert len(runs_of_enzyme(fake_process)) == 2


def test_loads_stay_where_enzyme_crashed(workspace: Workspace, fake_process: FakeProcess) -> None:
    def effect(argv: Argv) -> None:
        if "-enable-gvn-memdep=0" not in argv:
            raise CompilerCrashError("catalyst was ended by SIGSEGV", hint="")
        output_of(argv).write_text("made")

    fake_process.reply(ENZYME, effect=effect)
    made = run(plan_of("a"), workspace)
    assert (content(made), made.refused) == ("made", {})
    assert len(runs_of_enzyme(fake_process)) == 2


def test_what_the_first_try_says_counts_where_another_does_not_end(
    workspace: Workspace, fake_process: FakeProcess
) -> None:
    """Objects with virtual functions are seen with fewer steps first."""

    def effect(argv: Argv) -> None:
        if not Path(argv[-3]).read_text():
            output_of(argv).write_text("made")
            return
        less_deep = "-enzyme-max-type-depth=3" in argv
        ended = "was ended by SIGABRT: Enzyme: <analysis>" if less_deep else f"{ENDLESS} 9 s"
        raise CompilerCrashError(f"opt {ended}", hint="")

    fake_process.reply(ENZYME, effect=effect)
    made = run(plan_of("@_ZTVa"), workspace)
    assert "memory that holds a number at one time" in made.refused["@_ZTVa"].reason


def test_the_fewest_values_are_not_looked_for_on_request(
    tmp_path: Path, settings: Settings, fake_process: FakeProcess
) -> None:
    workspace = workspace_in(tmp_path, replace(settings, disable=frozenset({"fewest-kept"})), fake_process, PLUGIN)
    fake_process.reply(VERIFY)
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on())
    run(plan_of("a"), workspace)
    assert fake_process.calls[0].argv[2] == "-enzyme-mincut-cache=0"


def test_a_plugin_is_loaded_into_the_opt_it_was_built_for(
    tmp_path: Path, settings: Settings, fake_process: FakeProcess
) -> None:
    own = Tool("opt", Path("/own/bin/opt-21"), "21.1.0", "beside the plugin")
    enzyme = EnzymeSource("plugin", Path("/own/LLVMEnzyme-21.so"), 21, own, "ADGEN_ENZYME")
    fake_process.reply(VERIFY)
    fake_process.reply("opt-21", ENZYME, effect=enzyme_that_fails_on())
    run(plan_of("a"), workspace_in(tmp_path, settings, fake_process, enzyme))
    assert fake_process.argvs[0][0] == "/own/bin/opt-21"


def test_all_entries_are_done_in_one_run(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on())
    prepare = Preparation(workspace)
    made = run(plan_of("a", "b", "c"), workspace, prepare)
    assert content(made) == "gradients of a b c"
    assert made.refused == {}
    assert prepare.asked == [["a", "b", "c"]]
    assert len(runs_of_enzyme(fake_process)) == 1


def test_entries_without_shadows_are_not_differentiated(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on())
    made = run(Plan((kernel("a"), kernel("constant", parameter("x")))), workspace)
    assert content(made) == "gradients of a"
    assert made.refused == {}


@pytest.mark.parametrize("how", [lambda: None, crash], ids=["ends without output", "crashes"])
def test_the_culprit_is_found_and_the_others_go_on(
    how: Callable[[], None], workspace: Workspace, fake_process: FakeProcess
) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on("b", how=how))
    prepare = Preparation(workspace)
    made = run(plan_of("a", "b", "c"), workspace, prepare)
    assert content(made) == "gradients of a c"
    assert list(made.refused) == ["b"]
    assert prepare.asked == [["a", "b", "c"], ["a"], ["b"], ["c"], ["a", "c"]]


def test_an_entry_that_fails_in_forward_mode_keeps_its_gradient(
    workspace: Workspace, fake_process: FakeProcess
) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on("b'"))
    prepare = Preparation(workspace)
    made = run(plan_of("a", "b"), workspace, prepare, ("reverse", "forward"))
    assert content(made) == "gradients of a b a'"
    assert (list(made.refused), list(made.refused_forward)) == ([], ["b"])
    assert prepare.asked == [["a", "b", "a'", "b'"], ["a"], ["b"], ["a'"], ["b'"], ["a", "b", "a'"]]


def test_what_is_seen_to_be_wrong_is_refused_and_the_others_are_done_without_it(
    workspace: Workspace, fake_process: FakeProcess
) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on())
    right = lambda _: fake_process.reply(VERIFY)  # noqa: E731
    fake_process.reply(VERIFY, stderr=refusal("b", "it adds plainly"), effect=right)
    made = run(plan_of("a", "b"), workspace)
    assert content(made) == "gradients of a"
    assert {symbol: error.reason for symbol, error in made.refused.items()} == {"b": "it adds plainly"}


def test_what_is_left_after_a_failure_is_verified_too(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on("c"))
    right = lambda _: fake_process.reply(VERIFY)  # noqa: E731
    fake_process.reply(VERIFY, stderr=refusal("b"), effect=right)
    made = run(plan_of("a", "b", "c"), workspace)
    assert (content(made), list(made.refused)) == ("gradients of a", ["c", "b"])


def test_tangents_alone_are_not_verified(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on())
    run(plan_of("a"), workspace, modes=("forward",))
    assert all(VERIFY not in argv for argv in fake_process.argvs)


def test_what_our_passes_refuse_is_refused_in_every_mode(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on())
    made = run(plan_of("a", "b"), workspace, Preparation(workspace, refuses={"b"}), ("reverse", "forward"))
    assert content(made) == "gradients of a a'"
    assert (list(made.refused), list(made.refused_forward)) == (["b"], ["b"])


def test_several_culprits(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on("a", "c", how=crash))
    made = run(plan_of("a", "b", "c"), workspace)
    assert content(made) == "gradients of b"
    assert list(made.refused) == ["a", "c"]


def test_a_culprit_among_many_is_found_by_halves(workspace: Workspace, fake_process: FakeProcess) -> None:
    """Of each half only what is asked is prepared."""
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on("f"))
    prepare = Preparation(workspace)
    made = run(plan_of(*"abcdefgh"), workspace, prepare)
    assert list(made.refused) == ["f"]
    assert ["".join(each) for each in prepare.asked] == ["abcdefgh", "abcd", "efgh", *"efgh", "abcdegh"]
    assert prepare.alone == [False, *[True] * 6, False]


def test_the_worker_does_a_part_of_the_same_module(
    tmp_path: Path, settings: Settings, fake_process: FakeProcess
) -> None:
    """Nothing is prepared for it; and only what stands alone is tried in other ways."""
    tried: list[str] = []

    def enzyme(argv: Argv) -> None:
        env = fake_process.calls[-1].env or {}
        asked = re.findall(r"body_(\w)", env.get("ADGEN_WORKER_ONLY", "body_" + " body_".join(prepare.asked[-1])))
        tried.append("".join(asked) + ("!" if "-enzyme-strict-aliasing=0" in argv else ""))
        if "f" in asked:
            raise CompilerCrashError("catalyst was ended by SIGABRT: Enzyme: <analysis>", hint="")
        Path(env["ADGEN_WORKER_OUTPUT"]).write_text("made")

    workspace = workspace_in(tmp_path, settings, fake_process)
    fake_process.reply(VERIFY)
    fake_process.reply("catalyst", effect=enzyme)
    prepare = Preparation(workspace)
    assert list(run(plan_of(*"abcdefgh"), workspace, prepare).refused) == ["f"]
    assert ["".join(each) for each in prepare.asked] == ["abcdefgh", "abcdegh"]
    assert tried == ["abcdefgh", "abcdefgh!", "abcd", "efgh", "e", "f", "f!", "g", "h", "abcdegh"]


def test_what_enzyme_names_is_tried_alone(tmp_path: Path, settings: Settings, fake_process: FakeProcess) -> None:
    """Nothing else is looked for; what does not fail alone is left to other ways for all."""
    tried: list[str] = []
    log = tmp_path / "enzyme.log"
    log.write_text("enzyme-error: <unknown>:0:0: in function adgen_body_f void (ptr): Enzyme: <analysis>\n")

    def enzyme(argv: Argv) -> None:
        env = fake_process.calls[-1].env or {}
        asked = re.findall(r"body_(\w)", env.get("ADGEN_WORKER_ONLY", "body_" + " body_".join(prepare.asked[-1])))
        apart = "-enzyme-strict-aliasing=0" in argv
        tried.append("".join(asked) + ("!" if apart else ""))
        if "f" in asked and not (apart and managed_apart):
            raise CompilerCrashError("catalyst was ended by SIGABRT: Enzyme: <analysis>", hint="", log=log)
        Path(env["ADGEN_WORKER_OUTPUT"]).write_text("made")

    workspace = workspace_in(tmp_path, settings, fake_process)
    fake_process.reply(VERIFY)
    fake_process.reply("catalyst", effect=enzyme)
    prepare, managed_apart = Preparation(workspace), False
    assert list(run(plan_of(*"abcdefgh"), workspace, prepare).refused) == ["f"]
    assert tried == ["abcdefgh", "f", "f!", "abcdegh"]
    tried.clear()
    managed_apart = True
    assert not run(plan_of(*"abcdefgh"), workspace, prepare).refused
    assert tried == ["abcdefgh", "f", "f!", "abcdefgh!"]


def test_what_does_not_end_is_looked_for_one_by_one(workspace: Workspace, fake_process: FakeProcess) -> None:
    """Halves that hold it would each take the whole time."""

    def endless() -> None:
        raise CompilerCrashError("opt did not end within 9 s and was stopped", hint="raise the limit")

    fake_process.reply(ENZYME, effect=enzyme_that_fails_on("c", how=endless))
    prepare = Preparation(workspace)
    assert list(run(plan_of(*"abcd"), workspace, prepare).refused) == ["c"]
    assert ["".join(each) for each in prepare.asked] == ["abcd", *"abcd", "abd"]


def test_one_entry_is_not_tried_twice(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on("a"))
    made = run(plan_of("a"), workspace)
    assert content(made) == "gradients of "
    assert list(made.refused) == ["a"]
    assert len(runs_of_enzyme(fake_process)) == 2


def test_entries_that_fail_only_together_are_all_refused(workspace: Workspace, fake_process: FakeProcess) -> None:
    def effect(argv: Argv) -> None:
        met = Path(argv[-3]).read_text().split()
        if len(met) < 2:
            output_of(argv).write_text("made")

    fake_process.reply(ENZYME, effect=effect)
    assert list(run(plan_of("a", "b"), workspace).refused) == ["a", "b"]


def test_entries_that_fail_only_together_are_done_one_after_the_other(
    tmp_path: Path, settings: Settings, fake_process: FakeProcess
) -> None:
    def enzyme(_: Argv) -> None:
        env = fake_process.calls[-1].env or {}
        asked, done = env.get("ADGEN_WORKER_ONLY"), Path(env["ADGEN_WORKER_INPUT"]).read_text()
        if asked or done.count(" ") == 0:
            Path(env["ADGEN_WORKER_OUTPUT"]).write_text(f"{done}; {asked}")

    workspace = workspace_in(tmp_path, settings, fake_process)
    fake_process.reply(VERIFY)
    fake_process.reply("catalyst", effect=enzyme)
    apart = lambda argv: output_of(argv).write_text(Path(argv[-4]).read_text())  # noqa: E731
    fake_process.reply("-passes=adgen-expand-constant-exprs", effect=apart)
    made = run(plan_of("a", "b"), workspace, modes=("reverse", "forward"))
    asked = [f"__enzyme_autodiff_adgen_body_{each}" for each in "ab"] + ["__enzyme_fwddiff_adgen_body_a"]
    assert content(made).split("; ")[1:4] == asked
    assert not made.refused
    assert not made.refused_forward


def test_where_even_nothing_fails_it_is_an_error(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, error=CRASH)
    with pytest.raises(CompilerCrashError, match="SIGSEGV"):
        run(plan_of("a", "b"), workspace)


def test_what_our_passes_refuse_never_reaches_enzyme(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on("b"))
    prepare = Preparation(workspace, refuses={"b"})
    made = run(plan_of("a", "b"), workspace, prepare)
    assert content(made) == "gradients of a"
    assert made.refused["b"].reason == "b has a shuffle"
    assert prepare.asked == [["a", "b"], ["a"]]
    assert len(runs_of_enzyme(fake_process)) == 1


def test_a_crash_names_the_entry_and_its_place(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on("b", how=crash))
    reason = run(plan_of("a", "b"), workspace).refused["b"]
    assert isinstance(reason, CompilerCrashError)
    assert reason.reason == "Enzyme could not differentiate b: opt was ended by SIGSEGV"
    assert reason.location == Location("/home/u/k.cu", 7)
    assert (reason.hint, reason.log) == ("repeat it", Path("/logs/enzyme.log"))


def test_a_message_of_enzyme_is_a_refusal_with_a_log(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply(ENZYME, returncode=4, stderr="enzyme-error: /home/u/k.cu:9:3: Cannot deduce type of copy\n")
    with pytest.raises(RefusedError, match="a copy of memory whose type cannot be seen") as caught:
        run(plan_of("a"), workspace)
    assert caught.value.location == Location("/home/u/k.cu", 9, 3)
    assert caught.value.log is not None
    assert re.search(r"^\$ /llvm/bin/opt .*enzyme-error: ", caught.value.log.read_text(), re.DOTALL)


def test_a_message_without_a_place_is_about_the_entry(workspace: Workspace, fake_process: FakeProcess) -> None:
    def effect(argv: Argv) -> None:
        if not Path(argv[-3]).read_text():
            output_of(argv).write_text("made")

    fake_process.reply(ENZYME, stderr="enzyme-error: something odd\n", effect=effect)
    reason = run(plan_of("a"), workspace).refused["a"]
    assert reason.reason == "Enzyme cannot differentiate this: something odd"
    assert reason.location == Location("/home/u/k.cu", 7)


def test_an_output_of_an_earlier_run_is_not_taken_for_a_success(
    workspace: Workspace, fake_process: FakeProcess
) -> None:
    workspace.file("k.sm_90.gradient.ll").write_text("old")
    fake_process.reply(ENZYME, effect=enzyme_that_fails_on("a"))
    assert list(run(plan_of("a"), workspace).refused) == ["a"]
