"""A kernel of the collection as a value: how to call it, and what it computes in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parent

Array = NDArray[Any]
Args = dict[str, Any]
Extent = int | tuple[int, ...]
Value = Any  # an argument: an array, a number, a structured scalar or `Pointers`


@dataclass(frozen=True)
class Pointers:
    """A struct of pointers that is passed by value.

    `layout` spells the struct with pointers as uint64, `arrays` holds what they point to, `values` the other members.
    """

    layout: np.dtype[np.void]
    arrays: dict[str, Array]
    values: dict[str, Any] = field(default_factory=dict)

    def pack(self, addresses: Mapping[str, int]) -> Value:
        """The struct itself, for arrays that lie at `addresses`."""
        members = {**self.values, **addresses}
        packed = np.zeros(1, self.layout)
        for name, value in members.items():
            packed[name] = value
        return packed[0]


@dataclass(frozen=True)
class Case:
    """One kernel with a launch.

    `make` gives fresh arguments by name, in the kernel's order: NumPy arrays, numbers, structured scalars, `Pointers`.
    `reference` takes the same with every float in float64 (scalars as arrays without dimensions), by keyword, and
    changes the arrays as the kernel does. `activity` holds what differs from adgen's default.
    """

    file: str
    kernel: str
    make: Callable[[np.random.Generator], Args]
    reference: Callable[..., None]
    grid: Extent
    block: Extent
    shared_bytes: int = 0
    activity: Mapping[str, str] = field(default_factory=dict)
    slack: float = 1.0

    @property
    def name(self) -> str:
        """Unique in the suite."""
        changed = "".join(f"-{name}-{activity}" for name, activity in self.activity.items())
        return f"{Path(self.file).stem}-{self.kernel}{changed}"

    @property
    def path(self) -> Path:
        return FOLDER / self.file

    @property
    def launch(self) -> tuple[Any, ...]:
        """What stands in the brackets of a call: grid, block, and stream and dynamic bytes where needed."""
        base = (self.grid, self.block)
        return (*base, None, self.shared_bytes) if self.shared_bytes else base


def activity_words(activity: Mapping[str, str]) -> list[str]:
    """What `adgen compile` takes."""
    return [word for name, kind in activity.items() for word in ("--activity", f"{name}={kind}")]


def has_floats(dtype: np.dtype[Any]) -> bool:
    if dtype.subdtype is not None:
        return has_floats(dtype.subdtype[0])
    if dtype.fields is not None:
        return any(has_floats(member[0]) for member in dtype.fields.values())
    return dtype.kind == "f"


def active_names(case: Case, args: Args) -> tuple[str, ...]:
    """The parameters that have a shadow, for arguments as `case.make` gives them."""
    return tuple(name for name, value in args.items() if _is_active(case, name, value))


def _is_active(case: Case, name: str, value: object) -> bool:
    if name in case.activity:
        return case.activity[name] != "const"
    return isinstance(value, Pointers) or (isinstance(value, np.ndarray) and has_floats(value.dtype))
