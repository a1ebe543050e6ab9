"""Which states of a sequence of steps are kept, and in which order it is reversed from them; no memory is touched.

Reversal follows Griewank and Walther's binomial checkpointing ("revolve"). While the steps are recorded their number
is not known yet; what is kept then follows Wang, Moin and Iaccarino's dynamic checkpointing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import comb
from typing import Literal


@dataclass(frozen=True)
class Action:
    """One move of a reversal. `step` is the state it is about; for "advance" the one reached, from where things stand.

    "reverse" differentiates the step from the state before it; "store" keeps that state, "drop" gives it up,
    "restore" goes back to it.
    """

    kind: Literal["advance", "store", "reverse", "drop", "restore"]
    step: int


def schedule(steps: int, snapshots: int) -> Iterator[Action]:
    """Reverse `steps` steps with the fewest repeated ones, from the state before the first.

    At most `snapshots` states are kept at once, that first one included.
    """
    kept = [(0, steps)]
    while kept:
        start, length = kept[-1]
        free = snapshots - len(kept)
        if length == 1:
            yield Action("reverse", start)
            kept.pop()
            if kept:
                yield Action("drop", start)
                yield Action("restore", kept[-1][0])
        elif free == 0:
            last = start + length - 1
            yield Action("advance", last)
            yield Action("reverse", last)
            yield Action("restore", start)
            kept[-1] = (start, length - 1)
        else:
            middle = start + _split(length, free + 1)
            yield Action("advance", middle)
            yield Action("store", middle)
            kept[-1] = (start, middle - start)
            kept.append((middle, start + length - middle))


def fewest_advances(steps: int, snapshots: int) -> int:
    """The number of steps that an optimal reversal runs beside those that it differentiates (Griewank and Walther)."""
    repetitions = _repetitions(steps, snapshots)
    return repetitions * steps - _reach(snapshots + 1, repetitions - 1)


def _split(steps: int, snapshots: int) -> int:
    """Where the next state is kept: one of the places from which the fewest steps follow."""
    repetitions = _repetitions(steps, snapshots)
    return min(_reach(snapshots, repetitions - 1), steps - _reach(snapshots - 1, repetitions - 1))


def _repetitions(steps: int, snapshots: int) -> int:
    """How often a step is run at most."""
    repetitions = 0
    while _reach(snapshots, repetitions) < steps:
        repetitions += 1
    return repetitions


def _reach(snapshots: int, repetitions: int) -> int:
    """The most steps that can be reversed without running one of them more often than that."""
    return comb(snapshots + repetitions, snapshots) if repetitions >= 0 else 0


@dataclass
class Placement:
    """The states that are kept while steps are recorded, by the number of the step they stand before.

    A state can be spared once a later one has a higher level: the later one will have been reversed, and its memory
    be free, by the time the spared one is computed again.
    """

    _levels: dict[int, int] = field(default_factory=dict)

    @property
    def steps(self) -> list[int]:
        """In ascending order."""
        return list(self._levels)

    def add(self, step: int) -> None:
        """Keep the state before the newest step."""
        self._levels[step] = 0

    def drop(self) -> int | None:
        """Give up one state, and say which; None where only the first is left."""
        steps = self.steps
        newest = steps[-1]
        if len(steps) == 1:
            return None
        chosen = self._spared(steps)
        if chosen is None and len(steps) > 2:  # noqa: PLR2004  (the first and the newest)
            chosen = steps[-2]
            self._levels[newest] = self._levels[chosen] + 1
        chosen = newest if chosen is None else chosen
        del self._levels[chosen]
        return chosen

    def _spared(self, steps: list[int]) -> int | None:
        """The latest state, but the first one, that a later one outranks."""
        highest = self._levels[steps[-1]]
        for step in reversed(steps[1:-1]):
            if self._levels[step] < highest:
                return step
            highest = max(highest, self._levels[step])
        return None
