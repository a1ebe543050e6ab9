"""Processes of the stages: time limits, logs, and the line that says what went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import FakeProcess
from stage_support import OPT, workspace_in

from enzyme_driver import pipelines
from enzyme_driver.command import ENDLESS
from enzyme_driver.errors import CompilerCrashError
from enzyme_driver.pipelines import Pass, Pipeline
from enzyme_driver.settings import Settings
from enzyme_driver.stages.workspace import Workspace, last_error


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings, fake_process: FakeProcess) -> Workspace:
    return workspace_in(tmp_path, settings, fake_process)


def test_every_process_has_the_time_limit_and_a_log(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply("tool", returncode=3, stdout="out")
    done = workspace.execute("the tool", ["/bin/tool", Path("/a")], env={"A": "1"})
    assert (done.returncode, done.stdout) == (3, "out")
    (call,) = fake_process.calls
    assert (call.argv, call.timeout, call.env) == (("/bin/tool", "/a"), workspace.settings.timeout, {"A": "1"})
    assert call.log == workspace.log("the tool")
    assert not call.log.exists()


def test_a_module_of_many_instances_has_more_time(workspace: Workspace, fake_process: FakeProcess) -> None:
    module = workspace.file("many.ll")
    with module.open("wb") as text:
        text.truncate(12 << 20)
    fake_process.reply("tool")
    workspace.execute("tool", ["/bin/tool", "-passes=a<b.ll>", module])
    (call,) = fake_process.calls
    assert call.timeout == 3 * workspace.settings.timeout


def test_what_takes_too_long_is_named(workspace: Workspace, fake_process: FakeProcess) -> None:
    """Also where the module comes by the environment, by which Enzyme has it and the time for it."""
    module = workspace.file("k.ll")
    module.write_text("define void @_Z4longPf() {\n" + "  call void @f()\n" * (6 << 16) + "}\n")
    fake_process.reply("tool", error=CompilerCrashError(f"tool {ENDLESS} 9 s and was stopped", hint="h"))
    with pytest.raises(CompilerCrashError, match=r"9 s and was stopped: Enzyme differentiates long \(\d+,\d+ lines\)"):
        workspace.execute("enzyme", ["/bin/tool"], env={"ADGEN_WORKER_INPUT": str(module)})
    (call,) = fake_process.calls
    assert call.timeout > workspace.settings.timeout


def test_a_failure_keeps_the_command_and_what_it_said(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply("tool", returncode=1, stdout="out\n", stderr="first\ntool: error: it broke\nlast\n")
    with pytest.raises(CompilerCrashError, match="tool: error: it broke") as caught:
        workspace.must("tool", ["/bin/tool", "two words"])
    log = caught.value.log
    assert log is not None
    assert log.read_text().splitlines()[:2] == ["$ /bin/tool 'two words'", "out"]
    assert not log.is_relative_to(workspace.folder)


def test_a_log_that_cannot_be_written_does_not_hide_the_failure(
    workspace: Workspace, fake_process: FakeProcess
) -> None:
    workspace.settings.cache_dir.write_text("in the way")
    fake_process.reply("tool", returncode=1)
    with pytest.raises(CompilerCrashError, match="no message") as caught:
        workspace.must("tool", ["/bin/tool"])
    assert caught.value.log is None


def test_an_option_that_is_too_long_for_an_argument_comes_in_a_file(
    workspace: Workspace, fake_process: FakeProcess
) -> None:
    fake_process.reply("opt")
    many = "k=a b;" * 30_000
    workspace.opt(Pipeline("many", (Pass("a", "{c}"),)), Path("/in.ll"), None, words={"c": many})
    (argv,) = fake_process.argvs
    said = next(word for word in argv if word.startswith("@"))
    assert Path(said[1:]).read_text(encoding="utf-8") == f"-passes=a<{many}>".replace(" ", "\\ ")
    assert all(len(word) < 2**17 for word in argv)


def test_opt_with_and_without_output(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply("opt")
    workspace.opt(pipelines.DESCRIBE, Path("/in.ll"), None)
    two = Pipeline("two", (Pass("a"), Pass("b", "{c}", when="known"), Pass("d", when="unknown")))
    workspace.opt(two, Path("/in.ll"), Path("/out.ll"), "-flag", words={"c": "c"}, facts={"known"})
    assert fake_process.argvs == [
        (*OPT, "-passes=adgen-name-halves,adgen-describe", "/in.ll", "-disable-output"),
        (*OPT, "-flag", "-passes=a,b<c>", "/in.ll", "-S", "-o", "/out.ll"),
    ]


def test_a_file_whose_path_would_end_a_pipeline_is_called_otherwise(workspace: Workspace, tmp_path: Path) -> None:
    odd = tmp_path / "my project (2), new" / "libdevice.bc"
    odd.parent.mkdir()
    odd.write_text("device")
    for _ in range(2):
        named = workspace.in_pipeline(odd)
        assert named == workspace.file("libdevice.bc")
        assert named.read_text() == "device"
    assert workspace.in_pipeline(Path("/a b/rules.bc")) == Path("/a b/rules.bc")


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("a\nLLVM ERROR: Cannot select: t5\nstack\n", "LLVM ERROR: Cannot select: t5"),
        ("opt: X.cpp:3: f(): Assertion `a && b' failed.\n", "opt: X.cpp:3: f(): Assertion `a && b' failed."),
        ("\n  ld: error: undefined symbol: f\n", "ld: error: undefined symbol: f"),
        ("\nsomething\nelse\n", "something"),
        ("", "no message"),
    ],
)
def test_the_line_that_says_what_went_wrong(said: str, line: str) -> None:
    assert last_error(said) == line
