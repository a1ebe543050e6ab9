"""The gradient against dual numbers: <ybar, J v> = <J^T ybar, v>, at the caller's own arguments.

Both sides are derivatives at one point: no step has to be chosen, and a kink that both stand on the same side of does
not matter. The left side is that of a witness (`stages.witness`), which owes nothing to Enzyme.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.members import assembled
from enzyme_driver.runtime.call.slots import written
from enzyme_driver.runtime.module import Function, Kernel
from enzyme_driver.runtime.transforms import check
from enzyme_driver.runtime.transforms.cross_target import copy_variables

Subject: TypeAlias = Kernel | Function
State = Literal["right", "wrong", "unchecked"]
Directions = dict[str, check.HostArray]

NOTES = "adgen_shadow_notes"
"""The witness's variable in which it says what it met, as passes/NumberType.h orders it."""

_LOST = {
    0: "integer arithmetic on the bits of numbers",
    1: "numbers that vary in memory without a derivative",
    3: "a compare-and-swap that threads reach in any order",
}
_TIE = 2

TOLERANCE: Mapping[int, float] = {8: 1e-9, 4: 1e-4, 2: 3e-2}
"""Largest accepted difference by the size in bytes of the narrowest floating-point type, relative to the size of the
terms of the two sums: the root of the sum of their squares."""

_ROUNDING: Mapping[int, float] = {8: 2.0**-50, 4: 2.0**-21, 2: 2.0**-6}
"""By how much arguments are moved to see what rounding makes of the derivative, relative to each."""

_AWAY = 1e-3
"""By how much arguments are moved to get away from a kink, relative to each."""

_NOTHING: Mapping[int, float] = {8: 1e-7, 4: 1e-3, 2: 1e-1}
"""A parameter with a smaller part of the relative sensitivity counts as one with this: its own may be rounding."""

_ILL = 30.0
"""A difference of so many times what moving by a rounding changes is no rounding."""


@dataclass(frozen=True)
class Element:
    """One element of a gradient, what the witness says of it, and its flat index among the parameter's numbers."""

    index: int
    gradient: float
    expected: float


@dataclass(frozen=True)
class Verdict:
    """What was found: `state`, why where it could not be decided, and where it is wrong by how much and in what."""

    state: State
    reason: str = ""
    error: float = 0.0
    tolerance: float = 0.0
    parameter: str = ""
    elements: tuple[Element, ...] = ()


def verify(subject: Subject, witness: Subject, values: check.Values, launch: Launch | None, seed: int = 0) -> Verdict:
    """Compare the gradient of `subject` at `values`, which stay as they are, with the dual numbers of `witness`."""
    if not witness.has_forward:
        entry = witness._entry.forward.get(witness.target)  # noqa: SLF001  (of the same package)
        refusal = entry.gradient_refused if entry else None
        return Verdict("unchecked", refusal.reason if refusal else "there is no witness")
    return _Trial(subject, witness, values, launch, seed).verdict()


@dataclass(frozen=True)
class _Sums:
    """Both sides, the size of their terms, and what the witness met (a line for each kind of note, or 0)."""

    forward: float
    reverse: float
    size: float
    notes: tuple[int, ...]

    @property
    def apart(self) -> float:
        return abs(self.forward - self.reverse)

    @property
    def error(self) -> float:
        return self.apart / self.size if self.size else 0.0


class _Trial:
    def __init__(
        self, subject: Subject, witness: Subject, values: check.Values, launch: Launch | None, seed: int
    ) -> None:
        self._subject, self._witness, self._launch = subject, witness, launch
        self._random = np.random.default_rng(seed)
        self._case = self._made(subject, values)
        case = self._case
        self._starts = {p.name: check._on_host(case, p) for p in case.shadowed}  # noqa: SLF001
        outputs = [p for p in case.shadowed if written(p)] + check._written_variables(case)  # noqa: SLF001
        self._weights = {p.name: check._random_like(self._starts[p.name], self._random) for p in outputs}  # noqa: SLF001
        self._inputs = [p for p in case.shadowed if p.reads or not p.is_pointer]
        kinds = [*self._inputs, *outputs]
        self._width = check._narrowest(case, kinds)  # noqa: SLF001
        self._tolerance = TOLERANCE[self._width]

    def verdict(self) -> Verdict:
        if not self._inputs:
            return Verdict("unchecked", "nothing of floating point is read")
        gradients = self._gradients(self._case)
        directions = self._scaled(gradients)
        found = self._sums(self._case, gradients, directions)
        if not all(map(math.isfinite, (found.forward, found.reverse))):
            return Verdict("unchecked", "the derivative is not finite at these arguments")
        if found.error <= self._tolerance:
            return Verdict("right", error=found.error, tolerance=self._tolerance)
        if lost := next((kind for kind in _LOST if found.notes[kind]), None):
            return self._lost(lost, found)
        if found.notes[0]:
            return self._lost(0, found)
        elsewhere = self._away(directions, found)
        return elsewhere or self._wrong(gradients, directions, found)

    def _lost(self, kind: int, found: _Sums) -> Verdict:
        return Verdict("unchecked", f"{_LOST[kind]} (line {found.notes[kind]})", found.error, self._tolerance)

    def _away(self, directions: Directions, found: _Sums) -> Verdict | None:
        """What is seen beside the arguments: whether they lie at a kink, or rounding explains the difference."""
        near = self._at(directions, _ROUNDING[self._width])
        noise = max(abs(near.forward - found.forward), abs(near.reverse - found.reverse))
        if not math.isfinite(noise) or found.apart <= _ILL * noise:
            return Verdict("unchecked", "rounding changes the derivative as much", found.error, self._tolerance)
        if not found.notes[_TIE]:
            return None
        beside = self._at(directions, _AWAY)
        if beside.error <= self._tolerance:
            return Verdict("right", "beside a kink", beside.error, self._tolerance)
        if beside.notes[_TIE] or not math.isfinite(beside.error):
            reason = f"the arguments lie at a kink (line {found.notes[_TIE]})"
            return Verdict("unchecked", reason, found.error, self._tolerance)
        return None

    def _at(self, directions: Directions, step: float) -> _Sums:
        """The sums where every input is moved a little."""
        case, moved = self._case, dict[str, object]()
        for part, (parameter, value) in case.parts.items():
            start = self._starts.get(part)
            if start is None or value is None or parameter not in self._inputs:
                moved[part] = value
                continue
            towards = [check._direction(each, self._random) for each in check._floats(start)]  # noqa: SLF001
            moved[part] = check._fresh(case, parameter, check._moved(start, towards, step))  # noqa: SLF001
        there = self._made(self._subject, tuple(assembled(p, moved) for p in case.signature))
        return self._sums(there, self._gradients(there), directions)

    def _wrong(self, gradients: Directions, directions: Directions, found: _Sums) -> Verdict:
        """Which parameter is worst, and which of its elements."""
        alone = {name: self._sums(self._case, gradients, {name: along}) for name, along in directions.items()}
        worst = max(alone, key=lambda name: alone[name].apart)
        element = self._worst_element(worst, gradients, directions[worst])
        return Verdict("wrong", "", found.error, self._tolerance, worst, (element,) if element else ())

    def _worst_element(self, name: str, gradients: Directions, along: check.HostArray) -> Element | None:
        """By halving: the half along which the two sides differ more has it."""
        total = sum(part.size for part in check._floats(along))  # noqa: SLF001
        low, high = 0, total
        while high - low > 1:
            middle = (low + high) // 2
            halves = [self._only(name, along, gradients, *half) for half in ((low, middle), (middle, high))]
            low, high = (low, middle) if halves[0].apart >= halves[1].apart else (middle, high)
        if not total:
            return None
        unit = _within(along, low, low + 1)
        step = next(float(part[part != 0][0]) for part in check._floats(unit) if np.any(part)) if _any(unit) else 1.0  # noqa: SLF001
        found = self._sums(self._case, gradients, {name: unit})
        return Element(low, found.reverse / step, found.forward / step)

    def _only(self, name: str, along: check.HostArray, gradients: Directions, low: int, high: int) -> _Sums:
        return self._sums(self._case, gradients, {name: _within(along, low, high)})

    def _made(self, subject: Subject, values: check.Values) -> check._Case:
        return _case(subject, values, self._launch)

    def _gradients(self, case: check._Case) -> Directions:
        return check._gradients(case, self._weights)  # noqa: SLF001

    def _scaled(self, gradients: Directions) -> Directions:
        """A random direction over all inputs at once, in which each has a part of the same size in the sum."""
        typical = {p.name: _typical(self._starts[p.name]) for p in self._inputs}
        parts = {name: _norm(gradients[name]) * size for name, size in typical.items()}
        parts = {name: part if math.isfinite(part) else 0.0 for name, part in parts.items()}
        largest = max(parts.values(), default=0.0) or 1.0
        least = _NOTHING[self._width] * largest
        return {
            name: _random_direction(self._starts[name], size / max(parts[name], least), self._random, self._width)
            for name, size in typical.items()
        }

    def _sums(self, case: check._Case, gradients: Directions, directions: Directions) -> _Sums:
        pairs = [(gradients[name], along) for name, along in directions.items()]
        reverse = np.concatenate([_products(gradient, along) for gradient, along in pairs])
        other = self._made(self._witness, case.values)
        if isinstance(self._subject, Kernel) and isinstance(self._witness, Kernel):
            copy_variables(self._subject, self._witness)
        self._set_notes()
        forward = check.pushed_forward(other, directions, self._weights)
        size = max(float(np.linalg.norm(reverse)), float(np.linalg.norm(forward)))
        return _Sums(float(forward.sum()), float(reverse.sum()), size, self._notes())

    def _set_notes(self) -> None:
        self._witness._backend.write_variable(NOTES, bytes(4 * (len(_LOST) + 1)))  # noqa: SLF001

    def _notes(self) -> tuple[int, ...]:
        data = self._witness._backend.read_variable(NOTES, 4 * (len(_LOST) + 1))  # noqa: SLF001
        return tuple(np.frombuffer(data, np.uint32).tolist())


def run_on_copies(subject: Subject, values: check.Values, launch: Launch | None) -> None:
    """The primal alone; the arguments stay as they are."""
    case = _case(subject, values, launch)
    fresh = {p.name: check._fresh(case, p, None) for p, _ in case.parts.values()}  # noqa: SLF001
    with check._variables_kept(case):  # noqa: SLF001
        case.primal(tuple(assembled(p, fresh) for p in case.signature))


def _case(subject: Subject, values: check.Values, launch: Launch | None) -> check._Case:
    if isinstance(subject, Kernel):
        if launch is None:
            raise TypeError(launch)
        return check._kernel_case(subject, values, launch)  # noqa: SLF001
    return check.function_case(subject, values)


def _typical(array: check.HostArray) -> float:
    """The size of the numbers; 1 where all are zero."""
    parts = check._floats(array)  # noqa: SLF001
    count = sum(part.size for part in parts)
    found = _norm(array) / math.sqrt(count) if count else 0.0
    return found if found > 0 and math.isfinite(found) else 1.0


def _norm(array: check.HostArray) -> float:
    parts = [float(np.linalg.norm(part.astype(np.float64))) for part in check._floats(array)]  # noqa: SLF001
    return math.hypot(*parts) if parts else 0.0


def _any(array: check.HostArray) -> bool:
    return any(np.any(part) for part in check._floats(array))  # noqa: SLF001


def _random_direction(like: check.HostArray, size: float, random: np.random.Generator, width: int) -> check.HostArray:
    """Numbers of either sign; the size is a power of two, and in the range of the type."""
    made = np.zeros_like(like, order="C")
    most = {8: 1e100, 4: 1e15, 2: 1e2}[width]
    scale = 2.0 ** round(math.log2(min(max(size, 1 / most), most)))
    for part in check._floats(made):  # noqa: SLF001
        part[...] = np.asarray(scale * random.standard_normal(part.shape)).astype(part.dtype)
    return made


def _products(gradient: check.HostArray, along: check.HostArray) -> check.HostArray:
    parts = zip(check._floats(gradient), check._floats(along), strict=True)  # noqa: SLF001
    return np.concatenate([(g.astype(np.float64) * a.astype(np.float64)).ravel() for g, a in parts] or [np.zeros(0)])


def _within(along: check.HostArray, low: int, high: int) -> check.HostArray:
    """The direction without the numbers outside of a range of them."""
    made, start = np.zeros_like(along, order="C"), 0
    for part, given in zip(check._floats(made), check._floats(along), strict=True):  # noqa: SLF001
        at = np.arange(start, start + part.size).reshape(part.shape)
        part[...] = np.where((at >= low) & (at < high), given, part.dtype.type(0))
        start += part.size
    return made
