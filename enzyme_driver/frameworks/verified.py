"""Gradients of operators verify themselves where they are first used: each launch whose gradient a vector-Jacobian
product has is compared with dual numbers, on the arguments that it has there.

Programs run without Python, so this is done beside them: the plan is gone through with the runtime's own kernels, as
far as there is something to look at.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from enzyme_driver.errors import AdgenError, DataRaceError, GradientMismatchError
from enzyme_driver.frameworks.code import Unit
from enzyme_driver.frameworks.derive import Analysis
from enzyme_driver.frameworks.plan import Copying, Filling, PlannedLaunch, Reference, Spec
from enzyme_driver.runtime.kernel import Kernel


class Arrays(Protocol):
    """What is asked of an array library whose arrays the runtime takes."""

    def zeros(self, spec: Spec) -> Any: ...

    def copy(self, array: Any) -> Any: ...


class Unverified:
    """What is left to be looked at of one vector-Jacobian product; false once nothing is."""

    def __init__(self, analysis: Analysis, launches: Sequence[tuple[PlannedLaunch, Unit]]) -> None:
        self._analysis = analysis
        self._units = {id(move): unit for move, unit in launches if unit.is_verified}

    def __bool__(self) -> bool:
        return bool(self._units)

    def look(self, given: Sequence[Any], arrays: Arrays) -> None:
        """At the gradients of a call with these inputs, those that are there, which stay as they are.

        Raises GradientMismatchError, DataRaceError. Nothing else is raised: the call itself says what is wrong with it.
        """
        try:
            self._walk(dict(enumerate(given)), arrays)
        except (GradientMismatchError, DataRaceError):
            raise
        except (AdgenError, TypeError, ValueError, RuntimeError) as problem:
            sys.stderr.write(f"adgen: the gradient of {self._analysis.name} was not verified: {problem}\n")
            self._units.clear()
        self._units = {key: unit for key, unit in self._units.items() if not _is_done(unit)}

    def _walk(self, contents: dict[int, Any], arrays: Arrays) -> None:
        plan, moves = self._analysis.plan, self._analysis.moves
        for number in range(plan.inputs, len(plan.arrays)):
            contents[number] = arrays.zeros(plan.arrays[number].spec)
        last = max(position for position, move in enumerate(moves) if id(move) in self._units)
        for position, move in enumerate(moves[: last + 1]):
            if isinstance(move, Filling):
                contents[move.target] = arrays.zeros(plan.arrays[move.target].spec)
            elif isinstance(move, Copying):
                contents[move.target] = arrays.copy(contents[move.source])
            else:
                self._launch(move, contents, runs=position < last)
            if all(_is_done(unit) for unit in self._units.values()):
                return

    def _launch(self, move: PlannedLaunch, contents: dict[int, Any], *, runs: bool) -> None:
        if unit := self._units.get(id(move)):
            subject = unit.callable
            subject.verify(_values(unit, move, contents), move.launch(subject.signature))
        if not runs:
            return
        unit = self._analysis.units(move.name, ())
        primal, values = unit.callable, _values(unit, move, contents)
        if isinstance(primal, Kernel):
            primal[move.key](*values)
        else:
            found = primal(*values)
            if move.result >= 0:
                contents[move.result][...] = found


def _is_done(unit: Unit) -> bool:
    guard = unit.callable.guard
    return guard is None or guard.is_open


def _values(unit: Unit, move: PlannedLaunch, contents: Mapping[int, Any]) -> tuple[Any, ...]:
    """The arguments of a launch, with numbers where arrays without a dimension stand for them."""
    pairs = zip(unit.signature, move.arguments, strict=True)
    return tuple(_value(value, contents, number=parameter.form == "scalar") for parameter, value in pairs)


def _value(value: Any, contents: Mapping[int, Any], *, number: bool = False) -> Any:
    if isinstance(value, Reference):
        return contents[value.number].item() if number else contents[value.number]
    if isinstance(value, Mapping):
        return {key: _value(item, contents) for key, item in value.items()}
    if isinstance(value, list):
        return [_value(item, contents) for item in value]
    return value
