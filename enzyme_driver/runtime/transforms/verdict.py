"""What verifying a gradient has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from enzyme_driver.runtime.backends.limits import Race

State = Literal["right", "wrong", "race", "unchecked"]
Result = Literal["primal", "gradient"]

UNSTEADY = "two calls of the primal with the same arguments differ"
"""Why nothing can be decided where a function has a state of its own, such as random numbers."""


@dataclass(frozen=True)
class Element:
    """One element of a gradient or a result, what the witness says of it, and its flat index in the parameter."""

    index: int
    gradient: float
    expected: float


@dataclass(frozen=True)
class Verdict:
    """What was found: `state`, why where it could not be decided, and where it is wrong by how much and in what.

    What was not decided may be `notable` (the two sides differ, or the launch was too large), may hold for every call
    (`lasting`), or may hold for these arguments alone (`depends`). `blocks` is set where only the first of a launch
    were tried, as many as `seconds` are enough for.
    """

    state: State
    reason: str = ""
    error: float = 0.0
    tolerance: float = 0.0
    parameter: str = ""
    elements: tuple[Element, ...] = ()
    notable: bool = False
    lasting: bool = False
    depends: bool = False
    blocks: int = 0
    seconds: float = 0.0
    race: Race | None = None
    result: Result | None = None
    """Whose result is wrong, where it is not the derivative that is."""
