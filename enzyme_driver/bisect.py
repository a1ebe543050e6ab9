"""Which optional pass makes a gradient wrong, or a compiler crash: a binary search over the passes, in their order.

Every trial is `adgen check` in a process of its own, so that what crashes or never ends takes nothing with it. The
passes that come behind the first k are left out by their switches.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from enzyme_driver import command, pipelines, registry
from enzyme_driver.command import Runner
from enzyme_driver.errors import (
    AdgenError,
    CheckFailedError,
    CompilerCrashError,
    GradientMismatchError,
    UsageError,
)
from enzyme_driver.model import Language, Target
from enzyme_driver.pipelines import Pipeline
from enzyme_driver.toolchain import Toolchain

Verdict = Literal["right", "wrong", "crash", "endless"]
LAST_TRIAL = 300.0
"""Seconds for a trial that is under way when the time for reducing is over."""
Trial = Callable[[frozenset[str]], Verdict]

_KINDS: dict[int, Verdict] = {
    0: "right",
    CheckFailedError.exit_code: "wrong",
    GradientMismatchError.exit_code: "wrong",
    CompilerCrashError.exit_code: "crash",
}
_OF_CUDA: dict[Target, tuple[Pipeline, ...]] = {
    "cuda": (pipelines.PREPARE_CUDA, pipelines.CUDA),
    "openmp": (pipelines.PREPARE_CUDA, pipelines.HOST_FROM_CUDA, pipelines.THREADS),
}
_OF_CPP = (pipelines.PREPARE_CPP, pipelines.HOST_FROM_CPP, pipelines.SWEEPS)


@dataclass(frozen=True)
class Culprit:
    """The pass: `verdict` is what the check says with it and all before it, and not with those before it alone.

    `alone` says whether leaving it out, and nothing else, mends the gradient. `left_out` are the switches of the passes
    behind it.
    """

    name: str
    verdict: Verdict
    alone: bool
    left_out: frozenset[str]

    @property
    def switch(self) -> str:
        return self.name.removeprefix(registry.PREFIX)

    @property
    def source(self) -> str:
        """Its file in enzyme_driver/passes."""
        row = registry.by_name()[self.name]
        return f"{row.folder}/{row.pass_class}.cpp"


def optional_passes(language: Language, targets: Sequence[Target]) -> tuple[str, ...]:
    """adgen's optional passes in the order in which a file's compilation runs them first."""
    ways = [_OF_CPP] if language == "c++" else [_OF_CUDA[target] for target in targets]
    names = (each.name for way in ways for pipeline in way for each in pipeline.passes)
    rows = registry.by_name()
    return tuple(dict.fromkeys(name for name in names if name in rows and rows[name].optional))


def trial(arguments: Sequence[str], timeout: float, run: Runner = command.run) -> Trial:
    """Runs `adgen check` with these arguments and some switches. Raises what it says where that is about the user."""

    def verdict(left_out: frozenset[str]) -> Verdict:
        own = arguments.index("--") if "--" in arguments else len(arguments)
        words = [word for switch in sorted(left_out) for word in ("--disable", switch)]
        asked = ["check", *arguments[:own], "--no-cache", *words, *arguments[own:]]
        try:
            done = run([sys.executable, "-m", "enzyme_driver", *asked], timeout=timeout)
        except CompilerCrashError as ended:
            return "endless" if command.ENDLESS in ended.reason else "crash"
        if done.returncode not in _KINDS:
            raise AdgenError(f"adgen check ends with {done.returncode}: {done.stderr.strip()}", hint="mend that first")
        return _KINDS[done.returncode]

    return verdict


def culprit(passes: Sequence[str], tried: Trial, say: Callable[[str], None]) -> Culprit:
    """Search. Raises UsageError where there is nothing to find, or no optional pass is to blame."""

    def behind(count: int) -> frozenset[str]:
        return frozenset(name.removeprefix(registry.PREFIX) for name in passes[count:])

    found = tried(frozenset())
    say(f"with all passes: {found}")
    if found == "right":
        raise UsageError("the gradient is right, there is nothing to bisect", hint="try another --seed")
    without = tried(behind(0))
    say(f"without optional passes: {without}")
    if without != "right":
        raise UsageError(
            f"without all optional passes the check still says {without}: a required pass, LLVM or Enzyme is to blame",
            hint="adgen pipeline FILE lists the passes, adgen compile --print-after PASS shows what each makes",
        )
    good, bad = 0, len(passes)
    while bad - good > 1:
        middle = (good + bad) // 2
        verdict = tried(behind(middle))
        say(f"up to {passes[middle - 1]}: {verdict}")
        good, bad = (middle, bad) if verdict == "right" else (good, middle)
        found = found if verdict == "right" else verdict
    name = passes[bad - 1]
    return Culprit(name, found, tried(frozenset({name.removeprefix(registry.PREFIX)})) == "right", behind(bad))


_HEADER = """\
; {name} makes a gradient {verdict} with this IR before it, found by adgen bisect. Say what has to come out.
;
; RUN: %opt -passes={name} -S %s | %filecheck %s

"""
_DEFINED = re.compile(r"^define .*?@([\w.$]+)\(", re.MULTILINE)
_ABOUT_FILE = re.compile(r"^(; \*\*\* IR Dump|; ModuleID|source_filename).*\n", re.MULTILINE)


def stub(found: Culprit, ir: str) -> str:
    """The text of a FileCheck file for the IR before the pass, with a line for each of its functions."""
    labels = "".join(f"; CHECK-LABEL: @{name}(\n" for name in _DEFINED.findall(ir))
    return f"{_HEADER.format(name=found.name, verdict=found.verdict)}{labels}\n{_ABOUT_FILE.sub('', ir)}"


_TEST = """\
#!/bin/sh
# Whether the fault is still there in the IR "$1"; no longer asked once the time is over.
[ "$(date +%s)" -lt {deadline} ] || exit 1
{wrong} && {right}
"""


def reduced(ir: Path, found: Culprit, arguments: Sequence[str], tools: Toolchain, seconds: float) -> bool:
    """Let llvm-reduce make the IR before the pass smaller, as long as the fault stays; False without that tool.

    Of a crash the pass alone is run, else the rest of the compilation and the check, with the pass and without it.
    """
    tool = shutil.which("llvm-reduce", path=str(tools.clang.prefix / "bin"))
    if tool is None:
        return False
    alone = command.in_shell([tools.opt.path, f"-load-pass-plugin={tools.passes}", f"-passes={found.name}"])
    check = command.in_shell([sys.executable, "-m", "enzyme_driver", "check"])
    own = arguments.index("--") if "--" in arguments else len(arguments)
    rest = command.in_shell(arguments[:own]) + f' --instead {found.name}="$1"'
    flags = command.in_shell(arguments[own:])
    wrong_codes = "|".join(str(code) for code, verdict in _KINDS.items() if verdict == "wrong")
    left_out = "".join(f" --disable {switch}" for switch in sorted(found.left_out))
    wrong, right = (
        (f'! {alone} -disable-output "$1" 2>/dev/null', "true")
        if found.verdict == "crash"
        else (
            f"{{ {check} {rest}{left_out} {flags} >/dev/null 2>&1; case $? in {wrong_codes});; *) false;; esac; }}",
            f"{check} {rest}{left_out} --disable {found.switch} {flags} >/dev/null 2>&1",
        )
    )
    test, smaller = ir.with_suffix(".sh"), ir.with_suffix(".reduced.ll")
    test.write_text(_TEST.format(deadline=int(time.time() + seconds), wrong=wrong, right=right), encoding="utf-8")
    test.chmod(0o755)
    command.run([tool, f"--test={test}", "--max-pass-iterations=1", "-o", smaller, ir], timeout=seconds + LAST_TRIAL)
    if smaller.is_file():
        smaller.replace(ir)
    return True
