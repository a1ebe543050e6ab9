"""A construct of the language with the kernel or function that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from enzyme_driver.model import Mode, Target

FOLDER = Path(__file__).resolve().parent

Extent = int | tuple[int, ...]


@dataclass(frozen=True)
class Construct:
    """A row of docs/coverage.md: what is shown, the kernel that shows it, and how that is launched.

    Arguments follow from the signature (see arguments.py) but for those in `given`. `flat` names inputs whose
    derivative is zero everywhere. `refused` is part of the message where there is no gradient on purpose; `also` names
    further kernels that are refused for the same reason. `second` says that second derivatives are checked too.
    """

    text: str
    entry: str
    given: Mapping[str, Any] = field(default_factory=dict)
    grid: Extent = 2
    block: Extent = 32
    shared_bytes: int = 0
    flat: frozenset[str] = frozenset()
    tolerance: float | None = None
    refused: str = ""
    also: tuple[str, ...] = ()
    second: bool = False

    @property
    def launch(self) -> tuple[Any, ...]:
        """What stands in the brackets of a call."""
        return (self.grid, self.block, None, self.shared_bytes)


@dataclass(frozen=True)
class SourceFile:
    """A file of constructs, which is compiled as a whole; `title` heads its section of the page."""

    title: str
    name: str
    constructs: tuple[Construct, ...]
    activity: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    fast_math: bool = False
    modes: tuple[Mode, ...] = ()

    @property
    def path(self) -> Path:
        return FOLDER / self.name

    @property
    def targets(self) -> tuple[Target, ...]:
        return ("openmp", "cuda") if self.path.suffix == ".cu" else ("openmp",)
