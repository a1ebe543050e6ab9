"""Stand-ins for the outside world, for tests that must not depend on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from enzyme_driver.command import Completed
from enzyme_driver.model import Target

Argv = tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """A process that was asked for."""

    argv: Argv
    timeout: float
    cwd: Path | None
    env: Mapping[str, str] | None
    log: Path | None


@dataclass(frozen=True)
class Reply:
    """What a fake process does; `effect` stands for the files that it writes, `error` is raised instead."""

    words: Argv
    stdout: str = ""
    stderr: str = ""
    returncode: int = 0
    effect: Callable[[Argv], object] | None = None
    error: Exception | None = None


@dataclass
class FakeProcess:
    """A `Runner` that starts nothing: it records every call, and answers as it was told.

    The last reply whose words all occur in a command (a word also matches a path's file name) is taken.
    A command that nothing was said about fails the test.
    """

    replies: list[Reply] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def reply(
        self,
        *words: str,
        stdout: str = "",
        stderr: str = "",
        returncode: int = 0,
        effect: Callable[[Argv], object] | None = None,
        error: Exception | None = None,
    ) -> None:
        self.replies.append(Reply(words, stdout, stderr, returncode, effect, error))

    @property
    def argvs(self) -> list[Argv]:
        return [call.argv for call in self.calls]

    def __call__(
        self,
        argv: Sequence[str | Path],
        *,
        timeout: float,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
    ) -> Completed:
        words = tuple(str(word) for word in argv)
        self.calls.append(Call(words, timeout, cwd, env, log))
        reply = self._reply_to(words)
        if reply.error is not None:
            raise reply.error
        if reply.effect is not None:
            reply.effect(words)
        return Completed(words, reply.returncode, reply.stdout, reply.stderr, 0.0)

    def _reply_to(self, words: Argv) -> Reply:
        said = {*words, *(Path(word).name for word in words)}
        for reply in reversed(self.replies):
            if said.issuperset(reply.words):
                return reply
        raise AssertionError(f"a process that nobody expected: {words}")


class FakeGpu:
    """The backend of the CUDA target where there is no GPU: it is there, and whoever launches on it fails the test."""

    target: Target = "cuda"

    def __init__(self, *_: object) -> None:
        pass

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"nobody expected {name} of the GPU")


def output_of(argv: Argv) -> Path:
    """The file after `-o`."""
    return Path(argv[argv.index("-o") + 1])


def writes_output(content: str = "made") -> Callable[[Argv], object]:
    """The effect of a compiler: the file after `-o` comes into being."""
    return lambda argv: output_of(argv).write_text(content)


def executable(path: Path, content: str = "tool") -> Path:
    """A file that looks like a tool; it cannot be run, a fake process answers for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(0o755)
    return path
