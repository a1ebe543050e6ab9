"""What work on the passes needs of a compilation: which passes ran, the IR around one, and other IR in its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from enzyme_driver.pipelines import Pass, Pipeline

_DUMP = "; *** IR Dump "


@dataclass(frozen=True)
class Run:
    """One process of opt: the pipeline, its passes that ran, and the IR that was asked for."""

    pipeline: Pipeline
    passes: tuple[Pass, ...]
    dumps: tuple[str, ...]


@dataclass
class Inspection:
    """Collects the runs of opt of one compilation, in the order in which they ended.

    `after` and `before` name passes whose result or input is to be dumped. `instead`, where it is given, is the IR with
    which the pass `before` begins, in place of what the passes before it make (also where that pass is left out).
    """

    after: str = ""
    before: str = ""
    instead: Path | None = None
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
        return tuple(wanted)

    def add(self, pipeline: Pipeline, passes: tuple[Pass, ...], stderr: str) -> None:
        self.runs.append(Run(pipeline, passes, tuple(f"{_DUMP}{text}" for text in stderr.split(_DUMP)[1:])))


def names_in(each: Pass) -> tuple[str, ...]:
    """The pass's name, and those of the passes that it runs."""
    return (each.name, *(name for inner in each.inner for name in names_in(inner)))


def _names(passes: tuple[Pass, ...]) -> set[str]:
    return {name for each in passes for name in names_in(each)}
