"""What work on the passes needs of a compilation: which passes ran, the IR around one, and other IR in its place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from enzyme_driver import registry
from enzyme_driver.pipelines import Pass, Pipeline

_DUMP = "; *** IR Dump "
_CHANGED = re.compile(r"^\*\*\* IR Dump After (?:\w+::)?(\w+) on ", re.MULTILINE)
_COUNT = re.compile(r"^ *(?P<number>\d+) (?P<name>adgen-[\w-]+) +- (?P<what>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Count:
    """A counter of a pass (LLVM's STATISTIC) that is not zero."""

    name: str
    number: int
    what: str


@dataclass(frozen=True)
class Run:
    """One process of opt: the pipeline, its passes that ran, the IR that was asked for, and what the passes said.

    `changed` names the passes of ours that changed the IR, where that was asked for.
    """

    pipeline: Pipeline
    passes: tuple[Pass, ...]
    dumps: tuple[str, ...]
    counts: tuple[Count, ...] = ()
    notes: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass
class Inspection:
    """Collects the runs of opt of one compilation, in the order in which they ended.

    `after` and `before` name passes whose result or input is to be dumped. `instead`, where it is given, is the IR with
    which the pass `before` begins, in place of what the passes before it make (also where that pass is left out). With
    `counting`, passes print their counters, and the pass `debugged` what it changes; both need an LLVM with assertions.
    With `comparing`, the IR before and after each of our passes is compared.
    """

    after: str = ""
    before: str = ""
    instead: Path | None = None
    counting: bool = False
    debugged: str = ""
    comparing: bool = False
    runs: list[Run] = field(default_factory=list)

    def begun(self, pipeline: Pipeline, source: Path) -> tuple[Pipeline, Path]:
        """The pipeline from the pass `before` on, and the IR to begin with; as they are where nothing stands in."""
        passes = tuple(pipeline.passes)
        place = next((i for i, each in enumerate(passes) if self.before in names_in(each)), None)
        if self.instead is None or place is None:
            return pipeline, source
        return Pipeline(pipeline.name, passes[place:]), self.instead

    def flags(self, passes: tuple[Pass, ...]) -> tuple[str, ...]:
        """What opt has to be told to dump."""
        names = _names(passes)
        wanted = [f"-print-after={self.after}"] if self.after in names else []
        wanted += [f"-print-before={self.before}"] if self.before in names and self.instead is None else []
        wanted += ["-stats"] if self.counting else []
        wanted += [f"-debug-only={self.debugged}"] if self.debugged in names else []
        own = ",".join(sorted(names & registry.by_name().keys()))
        wanted += ["-print-changed=quiet", f"-filter-passes={own}"] if self.comparing and own else []
        return tuple(wanted)

    def add(self, pipeline: Pipeline, passes: tuple[Pass, ...], stderr: str) -> None:
        dumps = tuple(f"{_DUMP}{text}" for text in stderr.split(_DUMP)[1:])
        found = _COUNT.finditer(stderr) if self.counting else ()
        counts = tuple(Count(each["name"], int(each["number"]), each["what"]) for each in found)
        mark = f"{self.debugged}: "
        notes = tuple(line for line in stderr.splitlines() if self.debugged and line.startswith(mark))
        names = {row.pass_class: row.name for row in registry.rows()}
        changed = tuple(names[each] for each in _CHANGED.findall(stderr) if each in names) if self.comparing else ()
        self.runs.append(Run(pipeline, passes, dumps, counts, notes, changed))


def names_in(each: Pass) -> tuple[str, ...]:
    """The pass's name, and those of the passes that it runs."""
    return (each.name, *(name for inner in each.inner for name in names_in(inner)))


def _names(passes: tuple[Pass, ...]) -> set[str]:
    return {name for each in passes for name in names_in(each)}
