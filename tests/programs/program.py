"""A program as its author wrote it, one kernel or function of it, and how to call that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from enzyme_driver.model import Activity

FOLDER = Path(__file__).resolve().parent

Args = dict[str, Any]
Extent = int | tuple[int, ...]
Maker = Callable[[np.random.Generator], Args]


@dataclass(frozen=True)
class Program:
    """One entry of a file with a launch.

    `make` gives fresh arguments by name, in order. `outputs` names all arrays that a call changes,
    those in structs as `struct.member`. `flat` names inputs
    whose derivative is zero everywhere. `block` is None for C++ functions. `refused` is a pattern of the message where
    the OpenMP target refuses on purpose. `broken` says why the check fails today (then it must fail); what begins with
    `crash:` is not run, as it may end the process. `on_gpu` is false where CuPy has no such arrays (bfloat16).
    """

    file: str
    entry: str
    make: Maker
    outputs: tuple[str, ...] = ()
    grid: Extent = 1
    block: Extent | None = None
    shared_bytes: int = 0
    activity: Mapping[str, Activity] = field(default_factory=dict)
    flat: frozenset[str] = frozenset()
    tolerance: float | None = None
    refused: str = ""
    broken: str = ""
    on_gpu: bool = True

    @property
    def name(self) -> str:
        """Unique in the table."""
        changed = "".join(f"-{name}-{activity}" for name, activity in self.activity.items())
        return f"{Path(self.file).stem}-{self.entry}{changed}"

    @property
    def path(self) -> Path:
        return FOLDER / self.file

    @property
    def launch(self) -> tuple[Any, ...]:
        """What stands in the brackets of a call."""
        base = (self.grid, self.block)
        return (*base, None, self.shared_bytes) if self.shared_bytes else base
