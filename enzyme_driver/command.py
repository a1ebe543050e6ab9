"""The only place that starts a process."""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from enzyme_driver.errors import CompilerCrashError, ToolchainError
from enzyme_driver.settings import with_environment

ENDLESS = "did not end within"
"""Says in the reason of a CompilerCrashError that the process was stopped."""

MOST_WAITS = 10
"""So many times its limit a process may take where others leave it too little processor time."""

IDLE = 0.01
"""Processor time over time, below which a process waits for something and is not slow."""

STACK = 2**30
"""Bytes of a tool's stack; Enzyme, for one, follows the operands of an expression by recursion."""


@dataclass(frozen=True)
class Completed:
    """A process that ended by itself; `seconds` is its wall time."""

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def ok(self) -> bool:
        return self.returncode == 0


class Runner(Protocol):
    """What stages take to start processes: `run` below, or a fake in a test."""

    def __call__(
        self,
        argv: Sequence[str | Path],
        *,
        timeout: float,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
    ) -> Completed: ...


def run(
    argv: Sequence[str | Path],
    *,
    timeout: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    log: Path | None = None,
) -> Completed:
    """Run `argv` (no shell, no standard input) for at most `timeout` seconds of processor time.

    A process that waits for something is given as many seconds, one that others leave little time `MOST_WAITS` as many.

    `env` is added to this process's environment. A return code other than 0 is the caller's business; a signal or a
    timeout is a CompilerCrashError, whose raw output is kept in `log` where that is given. A missing or
    unusable executable is a ToolchainError.
    """
    words = tuple(str(word) for word in argv)
    start = time.perf_counter()
    process = _start(words, cwd, env)
    try:
        stdout, stderr = _output(process, timeout)
    except subprocess.TimeoutExpired:
        output = _kill(process)
        reason = f"{_tool(words)} {ENDLESS} {timeout:g} s and was stopped"
        hint = "raise the limit with ADGEN_TIMEOUT (seconds), or make the file smaller"
        raise CompilerCrashError(reason, hint=hint, log=keep(log, words, output)) from None
    except BaseException:
        _kill(process)
        raise
    if process.returncode < 0:
        reason = f"{_tool(words)} was ended by {_signal_name(-process.returncode)}{_last_words(stderr)}"
        hint = f"repeat it by hand (ADGEN_KEEP=folder keeps its files): {in_shell(words, cwd=cwd, env=env)}"
        raise CompilerCrashError(reason, hint=hint, log=keep(log, words, stdout + stderr))
    return Completed(words, process.returncode, stdout, stderr, time.perf_counter() - start)


def _output(process: subprocess.Popen[str], timeout: float) -> tuple[str, str]:
    """What a process has written once it has ended; TimeoutExpired where it does not."""
    end = time.monotonic() + MOST_WAITS * timeout
    before, wait = 0.0, timeout
    while True:
        try:
            return process.communicate(timeout=wait)
        except subprocess.TimeoutExpired:
            used = _processor_seconds(process.pid)
            left = min(timeout - used, end - time.monotonic())
            if left <= 0 or used - before < IDLE * wait:
                raise
            before, wait = used, max(left, 0.1)


def _processor_seconds(session: int) -> float:
    """What the processes of a session, and those that they have waited for, have taken; more than any limit where the
    system does not say it.
    """
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(words[3]) == session:
            ticks += sum(map(int, words[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK") if Path("/proc/self/stat").exists() else float("inf")


def in_shell(argv: Sequence[str | Path], *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """The command as one line that repeats it in a shell."""
    words = [*(f"{name}={shlex.quote(value)}" for name, value in (env or {}).items())]
    words += [shlex.quote(str(word)) for word in argv]
    line = " ".join(words)
    return f"cd {shlex.quote(str(cwd))} && {line}" if cwd else line


@cache
def _leash() -> tuple[str, ...]:
    """What makes the kernel end a process when the one that started it ends, even by SIGKILL, gives it a stack for
    the recursions that compilers make of long expressions, and the same addresses each time.
    """
    setpriv, prlimit = shutil.which("setpriv"), shutil.which("prlimit")
    bound = (*without_random_addresses(), *((setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()))
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    most = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    if prlimit and soft != resource.RLIM_INFINITY and soft < most:
        return (*bound, prlimit, f"--stack={most}:")
    return bound


def without_random_addresses() -> tuple[str, ...]:
    """Enzyme orders some of what it writes by address, so that random ones make another binary of the same file each
    time. Nothing where the system forbids it, as Docker's default profile does.
    """
    setarch = shutil.which("setarch")
    if not setarch:
        return ()
    fixed = (setarch, "--addr-no-randomize")
    tried = subprocess.run((*fixed, setarch, "--version"), capture_output=True, check=False)  # noqa: S603
    return fixed if tried.returncode == 0 else ()


def _start(words: tuple[str, ...], cwd: Path | None, env: Mapping[str, str] | None) -> subprocess.Popen[str]:
    """Start in a session of its own, so that all its children can be stopped with it.

    What cannot be executed is started as it is, so that the system says why.
    """
    leash = _leash() if Path(words[0]).is_absolute() and os.access(words[0], os.X_OK) else ()
    try:
        return subprocess.Popen(  # noqa: S603  (argv is made by adgen, and there is no shell)
            (*leash, *words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=with_environment(env) if env else None,
            start_new_session=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as problem:
        reason = f"{words[0]} cannot be started: {problem.strerror or problem}"
        raise ToolchainError(reason, hint="run `adgen doctor` to see which tools are found") from None


def _kill(process: subprocess.Popen[str]) -> str:
    """Kill the whole process group; what it had written so far."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()
    stdout, stderr = process.communicate()
    return stdout + stderr


def _tool(words: tuple[str, ...]) -> str:
    return Path(words[0]).name


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_words(stderr: str) -> str:
    """The line in which LLVM says why it gives up, if there is one."""
    telling = ("Assertion", "LLVM ERROR", "UNREACHABLE")
    lines = [line.strip() for line in stderr.splitlines() if any(word in line for word in telling)]
    return f": {lines[0]}" if lines else ""


def keep(log: Path | None, words: Sequence[str | Path], output: str) -> Path | None:
    """Write a tool's raw output down, and say where.

    A log that cannot be written must not hide the error that it is about.
    """
    if log is None:
        return None
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"$ {in_shell(words)}\n{output}", encoding="utf-8")
    except OSError:
        return None
    return log
