"""Where a compilation happens: a scratch folder, the tools, and how they are started."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from enzyme_driver import command, pipelines
from enzyme_driver.command import ENDLESS, Completed, Runner
from enzyme_driver.errors import CompilerCrashError
from enzyme_driver.optimisations import OPTIMISATIONS
from enzyme_driver.pipelines import Pipeline
from enzyme_driver.settings import Settings
from enzyme_driver.stages.inspection import Inspection
from enzyme_driver.stages.running import MODULES, Running, in_full
from enzyme_driver.toolchain import Toolchain

LONGEST_OPTION = 100_000
"""Linux takes 128 KiB."""

_LAST_LINE = re.compile(r"(LLVM ERROR|Assertion|error):? ?(?P<text>.*)")


_BYTES_IN_TIME = 4 << 20
"""A module of this size is to be compiled within the limit."""


@dataclass(frozen=True)
class Workspace:
    """A scratch folder of one compilation, and everything that its stages need from outside."""

    folder: Path
    toolchain: Toolchain
    settings: Settings
    run: Runner = command.run
    inspection: Inspection | None = None
    running: Running = field(default_factory=Running)

    def file(self, name: str) -> Path:
        return self.folder / name

    def log(self, name: str) -> Path:
        """Where the raw output of a failed tool is kept; it outlives the scratch folder."""
        return self.settings.cache_dir / "logs" / f"{self.folder.name}-{name}.log"

    def execute(self, name: str, argv: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> Completed:
        """Run a tool under the time limit; whatever its exit code, it has ended by itself.

        A file of many instances has the limit several times.
        """
        files = [Path(word) for word in (*argv, *(env or {}).values())]
        times = max([1.0, *(_bytes(file) / _BYTES_IN_TIME for file in files)])
        try:
            with self.running.doing(name, files):
                return self.run(argv, timeout=times * self.settings.timeout, env=env, log=self.log(name))
        except CompilerCrashError as crash:
            if ENDLESS not in crash.reason:
                raise
            reason = f"{crash.reason}: {in_full(name, files)}"
            raise CompilerCrashError(reason, hint=crash.hint, log=crash.log) from None

    def must(self, name: str, argv: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> Completed:
        """Run a tool whose failure is no fault of the user's file: anything but success is a CompilerCrashError."""
        return self.succeeded(name, self.execute(name, argv, env=env))

    def succeeded(self, name: str, done: Completed) -> Completed:
        if not done.ok:
            raise CompilerCrashError(
                f"{name} failed: {last_error(done.stderr)}",
                hint="this is a defect of adgen or of a tool; please report it with the file and the full output",
                log=self.keep(name, done),
            )
        return done

    def keep(self, name: str, done: Completed) -> Path | None:
        """Write a tool's command and raw output to its log."""
        log = self.log(name)
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(f"$ {command.in_shell(done.argv)}\n{done.stdout}\n{done.stderr}", encoding="utf-8")
        except OSError:
            return None
        return log

    def does(self, name: str) -> bool:
        """Whether an optimisation of OPTIMISATIONS is to be done."""
        if name not in OPTIMISATIONS:
            raise KeyError(name)
        return name not in self.settings.disable

    def opt(
        self,
        pipeline: Pipeline,
        source: Path,
        output: Path | None,
        *flags: str,
        words: Mapping[str, str | Path] | None = None,
        facts: Collection[str] = (),
    ) -> Completed:
        """Run a pipeline over a module with adgen's plugin loaded; see pipelines.render for `words` and `facts`.

        The device libraries need not be among the words.
        """
        known = {"rules": self.toolchain.rules, "libdevice": self.toolchain.libdevice}
        given = {name: str(self.in_pipeline(path)) for name, path in known.items()} | {
            name: str(self.in_pipeline(word) if isinstance(word, Path) else word)
            for name, word in (words or {}).items()
        }
        if self.inspection:
            pipeline, source = self.inspection.begun(pipeline, source)
        chosen = pipelines.selected(pipeline, facts=facts, disabled=self.settings.disable)
        passes = ",".join(pipelines.rendered(each, given) for each in chosen)
        shown = self.inspection.flags(chosen) if self.inspection else ()
        where = ("-S", "-o", output) if output else ("-disable-output",)
        plugin = f"-load-pass-plugin={self.toolchain.passes}"
        asked = self._as_argument(f"-passes={passes}")
        argv = [self.toolchain.opt.path, plugin, *flags, *shown, asked, source, *where]
        if self.inspection is None:
            return self.must(pipeline.name, argv)
        try:
            done = self.must(pipeline.name, argv)
        except CompilerCrashError as crash:
            said = crash.log.read_text(encoding="utf-8") if crash.log and crash.log.is_file() else ""
            self.inspection.add(pipeline, chosen, said)
            raise
        self.inspection.add(pipeline, chosen, done.stderr)
        return done

    def _as_argument(self, option: str) -> str:
        """The option, or a file that says it where it is longer than systems allow: one for each of many kernels."""
        if len(option) <= LONGEST_OPTION:
            return option
        said = self.file("passes.txt")
        said.write_text(re.sub(r"([\\\s'\"])", r"\\\1", option), encoding="utf-8")
        return f"@{said}"

    def in_pipeline(self, path: Path) -> Path:
        """A name of the file that can be a pass's option, where some signs would end it."""
        if not set("<>(),;") & set(str(path)):
            return path
        link = self.file(path.name)
        with suppress(FileExistsError):
            link.symlink_to(path)
        return link


def last_error(text: str) -> str:
    """The line of a tool's output that says what went wrong."""
    for line in text.splitlines():
        match = _LAST_LINE.search(line)
        if match:
            return line.strip()
    return next((line.strip() for line in text.splitlines() if line.strip()), "no message")


def _bytes(file: Path) -> int:
    """The size of a module that a tool is given."""
    return file.stat().st_size if file.suffix in MODULES and file.is_file() else 0
