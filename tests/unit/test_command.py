"""Processes: what they say, how they end, and that nothing outlives its time."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from enzyme_driver import command
from enzyme_driver.command import STACK, in_shell, run
from enzyme_driver.errors import CompilerCrashError, ToolchainError
from enzyme_driver.scratch import scratch_folder

ROOT = Path(__file__).resolve().parents[2]


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_output_and_return_code() -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = run(python(code), timeout=30)
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 3)
    assert not done.ok
    assert done.argv == tuple(python(code))
    assert 0 < done.seconds < 30


def test_paths_are_words_and_cwd_and_env_are_given(tmp_path: Path) -> None:
    code = "import os; print(os.getcwd(), os.environ['GIVEN'], 'PATH' in os.environ)"
    done = run([Path(sys.executable), "-c", code], timeout=30, cwd=tmp_path, env={"GIVEN": "yes"})
    assert done.stdout.split() == [str(tmp_path), "yes", "True"]


def test_the_stack_is_deep() -> None:
    code = "import resource; print(*resource.getrlimit(resource.RLIMIT_STACK))"
    soft, hard = (int(word) for word in run(python(code), timeout=30).stdout.split())
    assert hard == resource.getrlimit(resource.RLIMIT_STACK)[1]
    assert soft == resource.RLIM_INFINITY or soft >= (STACK if hard == resource.RLIM_INFINITY else min(STACK, hard))


def test_no_standard_input() -> None:
    assert run(python("import sys; print(repr(sys.stdin.read()))"), timeout=30).stdout == "''\n"


def test_output_that_is_not_utf8_is_no_failure() -> None:
    assert "�" in run(python("import os; os.write(1, b'a\\xff')"), timeout=30).stdout


def test_much_output_on_both_streams_does_not_block() -> None:
    code = "import sys; [(print('o' * 99), print('e' * 99, file=sys.stderr)) for _ in range(5000)]"
    done = run(python(code), timeout=30)
    assert (len(done.stdout), len(done.stderr)) == (500_000, 500_000)


def test_timeout_names_tool_and_limit_and_keeps_the_output(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "crash.txt"
    start = time.perf_counter()
    with pytest.raises(CompilerCrashError, match=r"sh did not end within 1\.5 s") as caught:
        run(("sh", "-c", "echo so far; sleep 60"), timeout=1.5, log=log)
    assert time.perf_counter() - start < 20
    assert "ADGEN_TIMEOUT" in caught.value.hint
    assert caught.value.log == log
    assert "so far" in log.read_text()


BUSY = "import time; end = time.process_time() + {}\nwhile time.process_time() < end: pass"


def test_the_limit_is_one_of_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where others take most of it: the process has had a fifth of its limit when that has passed."""
    real = command._processor_seconds
    monkeypatch.setattr(command, "_processor_seconds", lambda session: 0.2 * real(session))
    monkeypatch.setattr(command, "MOST_WAITS", 1000)
    monkeypatch.setattr(command, "IDLE", 0.0)  # also one that has not yet begun on a busy machine
    done = run(python(BUSY.format(1.0)), timeout=0.4)
    assert done.ok
    assert done.seconds > 0.4
    with pytest.raises(CompilerCrashError, match="did not end within"):
        run(python(BUSY.format(20)), timeout=0.2)


def test_a_process_that_computes_is_stopped_after_its_limit() -> None:
    start = time.monotonic()
    with pytest.raises(CompilerCrashError, match="did not end within"):
        run(python(BUSY.format(60)), timeout=0.5)
    assert time.monotonic() - start < command.MOST_WAITS * 0.5 + 2


def test_timeout_ends_the_children_too(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    code = "sh -c 'echo $$ > $MARK; sleep 60'; true"
    with pytest.raises(CompilerCrashError):
        run(("sh", "-c", code), timeout=1.5, env={"MARK": str(mark)})
    assert _ends(int(mark.read_text()))


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv of util-linux is not installed")
def test_no_process_outlives_one_that_is_killed(tmp_path: Path) -> None:
    mark, script = tmp_path / "pid", tmp_path / "sleeps"
    script.write_text(f"#!/bin/sh\necho $$ > {mark}.new; mv {mark}.new {mark}; exec sleep 60\n")
    script.chmod(0o755)
    code = f"from enzyme_driver.command import run; run([{str(script)!r}], timeout=60)"
    driver = subprocess.Popen(python(code), cwd=ROOT)
    for _ in range(400):
        if mark.exists():
            break
        time.sleep(0.05)
    driver.kill()
    driver.wait()
    assert _ends(int(mark.read_text()))


def test_a_folder_that_a_killed_process_leaves_is_removed(tmp_path: Path) -> None:
    code = "from enzyme_driver.scratch import scratch_folder as f; x = f(); print(x.__enter__(), flush=True); input()"
    killed, going = (
        subprocess.Popen(
            python(code), cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}, text=True, stdin=-1, stdout=-1
        )
        for _ in range(2)
    )
    with killed, going:
        assert killed.stdout is not None
        assert going.stdout is not None
        left, held = Path(killed.stdout.readline().strip()), Path(going.stdout.readline().strip())
        killed.kill()
        killed.wait()
        assert left.is_dir()
        with scratch_folder(tmp_path) as own:
            assert sorted(tmp_path.iterdir()) == sorted([own, held])
        going.communicate("\n")
    assert list(tmp_path.iterdir()) == []


def _ends(pid: int) -> bool:
    """Whether the process is gone, or a zombie that nobody has waited for yet."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_signal_is_named_with_what_llvm_said(tmp_path: Path) -> None:
    log = tmp_path / "crash.txt"
    code = "import os, sys; print('x: Assertion `ok` failed.', file=sys.stderr, flush=True); os.abort()"
    with pytest.raises(CompilerCrashError) as caught:
        run(python(code), timeout=30, log=log)
    assert "SIGABRT: x: Assertion `ok` failed." in caught.value.reason
    assert sys.executable in caught.value.hint
    assert "Assertion" in log.read_text()


def test_without_a_log_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(CompilerCrashError) as caught:
        run(python("import os; os.kill(os.getpid(), 9)"), timeout=30, cwd=tmp_path)
    assert "SIGKILL" in caught.value.reason
    assert caught.value.log is None
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_cannot_be_written_hides_nothing() -> None:
    with pytest.raises(CompilerCrashError, match="SIGKILL") as caught:
        run(python("import os; os.kill(os.getpid(), 9)"), timeout=30, log=Path("/dev/null/x"))
    assert caught.value.log is None


@pytest.mark.parametrize("content", [None, "not a program"])
def test_a_tool_that_cannot_be_started(tmp_path: Path, content: str | None) -> None:
    tool = tmp_path / "tool"
    if content is not None:
        tool.write_text(content)
    with pytest.raises(ToolchainError, match="cannot be started") as caught:
        run([tool], timeout=1)
    assert str(tool) in caught.value.reason


def test_the_command_can_be_repeated_in_a_shell(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "import os, sys; print(os.getcwd(), os.environ['A'], sys.argv[1:])", "a b", "$c", "'"]
    folder = tmp_path / "with space"
    folder.mkdir()
    line = in_shell(argv, cwd=folder, env={"A": "1 2"})
    said = subprocess.run(["sh", "-c", line], check=True, capture_output=True, text=True).stdout
    assert said == f"{folder} 1 2 {['a b', '$c', chr(39)]}\n"


def test_nothing_else_starts_processes() -> None:
    package = ROOT / "enzyme_driver"
    starters = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in ("import subprocess", "os.system", "os.exec"))
    }
    assert starters == {"command.py"}
