"""The gradient against dual numbers: <ybar, J v> = <J^T ybar, v>, at the caller's own arguments.

Both sides are derivatives at one point: no step has to be chosen, and a kink that both stand on the same side of does
not matter. The left side is that of a witness (`stages.witness`), which owes nothing to Enzyme.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from enzyme_driver.runtime.backends.host import HostBackend
from enzyme_driver.runtime.backends.limits import ALL_BLOCKS, Race, limited
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.members import assembled
from enzyme_driver.runtime.call.slots import written
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.transforms import check_case, check_difference, check_numbers, narrow, outcomes
from enzyme_driver.runtime.transforms.cross_target import copy_variables
from enzyme_driver.runtime.transforms.verdict import UNSTEADY, Element, Result, Verdict

Subject: TypeAlias = Kernel | Function
Directions = dict[str, check_numbers.HostArray]

NOTES = "adgen_shadow_notes"
"""The witness's variable in which it says what it met, as passes/NumberType.h orders it."""

_LOST = {
    0: "integer arithmetic on the bits of numbers",
    1: "numbers that vary in memory without a derivative",
    3: "a compare-and-swap that threads reach in any order",
}
_TIE = 2
_NARROW = 2
"""Types of so many bytes are verified along several directions."""
_ROUNDED: Mapping[int, int] = {5: 4, 6: 2}
"""The notes that say that a number was rounded on the way, to how many bytes."""

_NOTES = 7
"""How many kinds of notes there are."""

TOLERANCE: Mapping[int, float] = {8: 1e-9, 4: 1e-4, 2: 3e-2}
"""Largest accepted difference by the size in bytes of the narrowest floating-point type, relative to the size of the
terms of the two sums: the root of the sum of their squares."""

_ROUNDING: Mapping[int, float] = {8: 2.0**-50, 4: 2.0**-21, 2: 2.0**-6}
"""By how much arguments are moved to see what rounding makes of the derivative, relative to each."""

_AWAY = 1e-3
"""By how much arguments are moved to get away from a kink, relative to each."""

_NOTHING: Mapping[int, float] = {8: 1e-7, 4: 1e-3, 2: 1e-1}
"""A parameter with a smaller part of the relative sensitivity counts as one with this: its own may be rounding."""

SECONDS = 10.0
"""Verifying may take so long."""

PROBE_SECONDS = 2.0
"""On the host, a witness runs as many blocks of a launch as it can in this time."""

_SLOWER = 50.0
"""A witness is slower than the primal by no more than that."""

_ILL: Mapping[int, float] = {8: 30.0, 4: 30.0, 2: 4.0}
"""A difference of so many times what moving by a rounding, or another call, changes is no rounding."""

_CALLS = 3
"""So many calls more tell whether all have the same derivative."""

_JUMP: Mapping[int, float] = {8: 1e-6, 4: 1e-2, 2: 0.5}
"""By how much an element may differ between two calls, relative to the typical one: sums have another order then."""


def verify(
    subject: Subject, witness: Subject, values: check_case.Values, launch: Launch | None, seed: int = 0
) -> Verdict:
    """Compare the gradient of `subject` at `values`, which stay as they are, with the dual numbers of `witness`."""
    if not witness.has_forward:
        entry = witness._entry.forward.get(witness.target)  # noqa: SLF001  (of the same package)
        refusal = entry.gradient_refused if entry else None
        return Verdict("unchecked", refusal.reason if refusal else "there is no witness", lasting=True)
    if changing := _variable_of_arrays(subject):
        return Verdict("unchecked", f"a trial could change the arrays that the variable {changing!r} leads to")
    trial = _Trial(subject, witness, values, launch, seed)
    if not trial.inputs:
        return Verdict("unchecked", "nothing of floating point is read", lasting=True)
    if trial.takes_too_long():
        return Verdict("unchecked", f"it could take more than {SECONDS:g} s", notable=True)
    if race := trial.race():
        return Verdict("race", race.kind, parameter=trial.array_at(race.address), race=race)
    some = trial.blocks_in_time()
    if not some:
        return trial.verdict()
    with limited(some):
        return replace(trial.verdict(), blocks=some, seconds=PROBE_SECONDS)


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
        self, subject: Subject, witness: Subject, values: check_case.Values, launch: Launch | None, seed: int
    ) -> None:
        self._subject, self._witness, self._launch = subject, witness, launch
        self._random = np.random.default_rng(seed)
        self._copies: dict[str, object] = {}
        self._case = self._made(subject, values)
        case = self._case
        self._starts = {p.name: check_case.on_host(case, p) for p in case.shadowed}
        outputs = [p for p in case.shadowed if written(p)] + check_case.written_variables(case)
        self._weights = {
            p.name: check_numbers.random_like(self._starts[p.name], self._random, uniform=bool(p.unordered))
            for p in outputs
        }
        self.inputs = [p for p in case.shadowed if p.reads or not p.is_pointer]
        kinds = [*self.inputs, *outputs]
        self._width = check_case.narrowest_of(case, kinds)
        self._tolerance = TOLERANCE[self._width]
        self._unit = narrow.unit_of(leaf.name for p in kinds for leaf in p.dtype.leaves())
        self._lines = list[Directions]()

    def takes_too_long(self) -> bool:
        """Of a launch on the host, one block is the least that can be tried. Once more where it is slow at first."""
        most = SECONDS / _SLOWER
        return all(self._primal_seconds() > most for _ in range(3))

    def _primal_seconds(self) -> float:
        case = self._case
        fresh = {p.name: check_case.fresh_copy(case, p, None) for p, _ in case.parts.values()}
        arguments = tuple(assembled(p, fresh) for p in case.signature)
        with check_case.variables_kept(case), limited(1, SECONDS):
            self._subject._backend.finish()  # noqa: SLF001
            began = time.perf_counter()
            case.primal(arguments)
            self._subject._backend.finish()  # noqa: SLF001
            return time.perf_counter() - began

    def race(self) -> Race | None:
        """The first race in as many blocks of the primal as there is time for."""
        backend = self._witness._backend  # noqa: SLF001
        if self._launch is None or not isinstance(backend, HostBackend):
            return None
        other = self._same_variables()
        fresh = {p.name: check_case.fresh_copy(other, p, None) for p, _ in other.parts.values()}
        self._copies = fresh
        with check_case.variables_kept(other), limited(ALL_BLOCKS, PROBE_SECONDS), backend.races() as found:
            other.primal(tuple(assembled(p, fresh) for p in other.signature))
        return found[0] if found else None

    def array_at(self, address: int) -> str:
        """The name of the array that the primal was given last at an address; empty for shared memory."""
        for name, array in self._copies.items():
            if isinstance(array, np.ndarray) and 0 <= address - array.ctypes.data < array.nbytes:
                return name
        return ""

    def blocks_in_time(self) -> int:
        """How many of the first blocks the witness gets through; 0 for all. Only on the host they can be told."""
        if self._launch is None or self._subject.target != "openmp":
            return 0
        with limited(ALL_BLOCKS, PROBE_SECONDS) as limit:
            self._carried(self._case, {})
        return max(limit.run, 1) if limit.run < math.prod(self._launch.grid) else 0

    def verdict(self) -> Verdict:
        """On the results first, since of wrong ones the gradient may be right."""
        other = self._other_results()
        if other and other.state == "wrong":
            return other
        found = self._on_gradient()
        return other if other and found.state in {"right", "wrong"} else found

    def _on_gradient(self) -> Verdict:
        gradients = self._gradients(self._case)
        if not all(check_numbers.all_finite(gradient) for gradient in gradients.values()):
            self._weights = check_difference.without_infinite(self._case, self._weights)
            gradients = self._gradients(self._case)
        directions = self._scaled(gradients)
        gradients, found = self._worse(gradients, directions, self._sums(self._case, gradients, directions))
        self._width = min([self._width, *(size for kind, size in _ROUNDED.items() if found.notes[kind])])
        self._tolerance = TOLERANCE[self._width]
        if not math.isfinite(found.forward):
            return Verdict("unchecked", "the derivative is not finite at these arguments", depends=True)
        if not math.isfinite(found.reverse):
            reason = "the gradient is not finite at these arguments, though the derivative is"
            return Verdict("unchecked", reason, notable=True, depends=True)
        if not found.size:
            return self._beside_zero(directions)
        samples = self._along_several(gradients) if self._width == _NARROW else None
        suspected = samples is not None and narrow.suspects(samples, self._unit, self._tolerance)
        if found.error <= self._tolerance and not suspected:
            return Verdict("right", error=found.error, tolerance=self._tolerance)
        lost = next((kind for kind in _LOST if found.notes[kind]), None)
        if lost is not None:
            return Verdict("unchecked", f"{_LOST[lost]} (line {found.notes[lost]})", found.error, self._tolerance)
        # What several directions alone suspect is not seen in this one, nor is what differs between calls.
        if found.error > self._tolerance and (unsteady := self._unsteady(gradients, directions, found)):
            return unsteady
        if samples:
            elsewhere = self._beside_narrow(samples, found)
            directions = self._lines[int(np.argmax(np.abs(samples.gaps)))]
            found = self._sums(self._case, gradients, directions)
        else:
            elsewhere = self._away(directions, found)
        return elsewhere or self._wrong(gradients, directions, found)

    def _along_several(self, gradients: Directions) -> narrow.Samples:
        """Along as many directions as there is time for, which stay the same."""
        end = time.perf_counter() + narrow.SECONDS
        samples = list[_Sums]()
        while len(samples) < narrow.directions_for(len(self.inputs)) and time.perf_counter() < end:
            self._lines.append(self._scaled(gradients))
            samples.append(self._sums(self._case, gradients, self._lines[-1]))
        return self._sampled(gradients, samples)

    def _sampled(self, gradients: Directions, samples: list[_Sums]) -> narrow.Samples:
        parts = [
            [check_numbers.products(gradients[name], to).sum() for name, to in along.items()] for along in self._lines
        ]
        return narrow.Samples(
            np.array([each.forward for each in samples]), np.array(parts), np.array([each.size for each in samples])
        )

    def _sampled_beside(self, scale: float) -> narrow.Samples:
        """Along the same directions, where inputs are moved and weights are larger by the scale."""
        there, kept = self._moved(_ROUNDING[self._width]), self._weights
        self._weights = {
            name: check_numbers.moved_along(weight, check_numbers.floats_of(weight), scale - 1)
            for name, weight in kept.items()
        }
        gradients = self._gradients(there)
        sums = [self._sums(there, gradients, along) for along in self._lines]
        self._weights = kept
        return self._sampled(gradients, sums).over(scale)

    def _beside_narrow(self, samples: narrow.Samples, found: _Sums) -> Verdict | None:
        """Of a narrow type: what is seen beside the arguments, unless the error stays the same there."""
        beside = [self._sampled_beside(scale) for scale in narrow.SCALES]
        if narrow.stays(samples, beside, self._unit):
            return None
        if found.error <= self._tolerance:
            return Verdict("right", error=found.error, tolerance=self._tolerance)
        if found.notes[_TIE] and all(each.error <= self._tolerance for each in beside):
            return Verdict("right", "beside a kink", max(each.error for each in beside), self._tolerance)
        reason = "rounding changes the derivative as much"
        return Verdict("unchecked", reason, found.error, self._tolerance, notable=True, depends=True)

    def _beside_zero(self, directions: Directions) -> Verdict:
        """Where the derivative is zero, such as for arrays of zeros, it says little."""
        beside = self._at(directions, _AWAY)
        if beside.size and beside.error <= self._tolerance:
            return Verdict("right", "beside where the derivative is zero", beside.error, self._tolerance)
        return Verdict("unchecked", "the derivative is zero at these arguments", depends=True)

    def _worse(self, gradients: Directions, directions: Directions, found: _Sums) -> tuple[Directions, _Sums]:
        """Of two calls: a race of the gradient shows in some only."""
        again = self._gradients(self._case)
        changes = (check_numbers.apart_along(gradients[name], again[name], along) for name, along in directions.items())
        if all(change <= self._tolerance * found.size for change in changes):
            return gradients, found
        other = self._sums(self._case, again, directions)
        return (gradients, found) if other.error <= found.error else (again, other)

    def _unsteady(self, gradients: Directions, directions: Directions, found: _Sums) -> Verdict | None:
        """Where calls differ: the primal's, as by random numbers of its own or the order of atomics, or a race."""
        calls = [self._gradients(self._case) for _ in range(_CALLS)]
        sums = [self._sums(self._case, call, directions) for call in calls]
        forward, reverse = (
            max(abs(getattr(each, side) - getattr(found, side)) for each in sums) for side in ("forward", "reverse")
        )
        enough = found.apart / _ILL[self._width]
        if forward < enough and reverse < enough:
            return None
        if not forward < enough or self._primal_differs():
            return self._undecided(UNSTEADY, found)
        jumps = (check_numbers.jump(gradients[name], call[name]) for call in calls for name in directions)
        if all(jump <= _JUMP[self._width] for jump in jumps):
            return self._undecided("two calls differ by as much as sums in another order may", found)
        wrong = replace(self._wrong(gradients, directions, found), reason="another call gives another gradient")
        return self._away(directions, found, steady=False) or wrong

    def _undecided(self, reason: str, found: _Sums) -> Verdict:
        return Verdict("unchecked", reason, found.error, self._tolerance, notable=True)

    def _primal_differs(self) -> bool:
        """Whether calls with the same arguments have other results, as the gradient's weights add them up."""
        first, *others = (self._weighted_results() for _ in range(_CALLS))
        most = self._tolerance * float(np.linalg.norm(first))
        return any(not abs(float((other - first).sum())) <= most for other in others)

    def _weighted_results(self) -> check_numbers.HostArray:
        arrays, returned = check_difference.outcome(self._case, self._weights)
        terms = [check_numbers.products(self._weights[name], array) for name, array in arrays.items()]
        found = np.concatenate([np.array([returned or 0.0]), *terms])
        return np.where(np.isfinite(found), found, 0.0)

    def _other_results(self) -> Verdict | None:
        """What is wrong with what the primal computes, or with what the gradient leaves in its place."""
        own = outcomes.of_primal(self._case)
        apart = outcomes.furthest(own, outcomes.of_primal(self._same_variables()))
        if not self._is_explained(apart, own):
            if isinstance(self._subject, Kernel):
                return self._wrong_result("primal", apart)
            reason = "its witness computes another result, such as where variables of the file were set by another call"
            return Verdict("unchecked", reason, apart.error, self._tolerance, notable=True, depends=True)
        apart = outcomes.furthest(outcomes.of_gradient(self._case, self._weights), own)
        return None if self._is_explained(apart, own) else self._wrong_result("gradient", apart)

    def _is_explained(self, apart: outcomes.Apart, own: outcomes.Outcome) -> bool:
        """By rounding, or since another call of the primal differs as much."""
        if apart.error <= math.sqrt(self._tolerance):
            return True
        others = [self._case, *(self._moved(times * _ROUNDING[self._width]) for times in (1, 4, 16))]
        noise = max(outcomes.furthest(outcomes.of_primal(case), own).error for case in others)
        return apart.error <= _ILL[self._width] * noise

    def _wrong_result(self, of: Result, apart: outcomes.Apart) -> Verdict:
        element = Element(apart.index, apart.found, apart.expected)
        return Verdict("wrong", "", apart.error, math.sqrt(self._tolerance), apart.name, (element,), result=of)

    def _away(self, directions: Directions, found: _Sums, *, steady: bool = True) -> Verdict | None:
        """What is seen beside the arguments: whether they lie at a kink, or rounding explains the difference.

        A gradient that is not steady says nothing of rounding.
        """
        near = [self._at(directions, times * _ROUNDING[self._width]) for times in (1, 4, 16)]
        noise = max(abs(each.forward - found.forward) for each in near)
        noise = max(noise, *(abs(each.reverse - found.reverse) for each in near)) if steady else noise
        if not math.isfinite(noise) or found.apart <= _ILL[self._width] * noise:
            reason = "rounding changes the derivative as much"
            return Verdict("unchecked", reason, found.error, self._tolerance, notable=True, depends=True)
        if not found.notes[_TIE]:
            return None
        beside = self._at(directions, _AWAY)
        if beside.error <= self._tolerance:
            return Verdict("right", "beside a kink", beside.error, self._tolerance)
        if beside.notes[_TIE] or not math.isfinite(beside.error):
            reason = f"the arguments lie at a kink (line {found.notes[_TIE]})"
            return Verdict("unchecked", reason, found.error, self._tolerance, notable=True, depends=True)
        return None

    def _at(self, directions: Directions, step: float) -> _Sums:
        there = self._moved(step)
        return self._sums(there, self._gradients(there), directions)

    def _moved(self, step: float) -> check_case.Case:
        """Where every input is moved a little."""
        case, moved = self._case, dict[str, object]()
        for part, (parameter, value) in case.parts.items():
            start = self._starts.get(part)
            if start is None or value is None or parameter not in self.inputs:
                moved[part] = value
                continue
            towards = [check_numbers.direction_of(each, self._random) for each in check_numbers.floats_of(start)]
            moved[part] = check_case.fresh_copy(case, parameter, check_numbers.moved_along(start, towards, step))
        return self._made(self._subject, tuple(assembled(p, moved) for p in case.signature))

    def _wrong(self, gradients: Directions, directions: Directions, found: _Sums) -> Verdict:
        """Which parameter is worst, and which of its elements."""
        alone = {name: self._sums(self._case, gradients, {name: along}) for name, along in directions.items()}
        worst = max(alone, key=lambda name: alone[name].apart)
        element = self._worst_element(worst, gradients, directions[worst])
        tolerance = self._tolerance if self._width > _NARROW else narrow.tolerance(self._unit)
        return Verdict("wrong", "", found.error, tolerance, worst, (element,) if element else ())

    def _worst_element(self, name: str, gradients: Directions, along: check_numbers.HostArray) -> Element | None:
        """By halving, as long as there is time: the half along which the two sides differ more has it."""
        total = sum(part.size for part in check_numbers.floats_of(along))
        low, high, end = 0, total, time.perf_counter() + SECONDS
        while high - low > 1:
            if time.perf_counter() > end:
                return None
            middle = (low + high) // 2
            halves = [self._only(name, along, gradients, *half) for half in ((low, middle), (middle, high))]
            low, high = (low, middle) if halves[0].apart >= halves[1].apart else (middle, high)
        if not total:
            return None
        unit = check_numbers.within(along, low, low + 1)
        step = (
            next(float(part[part != 0][0]) for part in check_numbers.floats_of(unit) if np.any(part))
            if check_numbers.has_nonzero(unit)
            else 1.0
        )
        found = self._sums(self._case, gradients, {name: unit})
        return Element(low, found.reverse / step, found.forward / step)

    def _only(self, name: str, along: check_numbers.HostArray, gradients: Directions, low: int, high: int) -> _Sums:
        return self._sums(self._case, gradients, {name: check_numbers.within(along, low, high)})

    def _made(self, subject: Subject, values: check_case.Values) -> check_case.Case:
        return _case(subject, values, self._launch)

    def _gradients(self, case: check_case.Case) -> Directions:
        return check_case.gradients_of(case, self._weights)

    def _scaled(self, gradients: Directions) -> Directions:
        """A random direction over all inputs at once, in which each has a part of the same size in the sum."""
        typical = {p.name: check_numbers.typical(self._starts[p.name]) for p in self.inputs}
        parts = {name: check_numbers.norm(gradients[name]) * size for name, size in typical.items()}
        parts = {name: part if math.isfinite(part) else 0.0 for name, part in parts.items()}
        largest = max(parts.values(), default=0.0) or 1.0
        least = _NOTHING[self._width] * largest
        return {
            name: check_numbers.scaled_direction(
                self._starts[name], size / max(parts[name], least), self._random, self._width
            )
            for name, size in typical.items()
        }

    def _sums(self, case: check_case.Case, gradients: Directions, directions: Directions) -> _Sums:
        pairs = [(gradients[name], along) for name, along in directions.items()]
        reverse = np.concatenate([check_numbers.products(gradient, along) for gradient, along in pairs])
        forward = self._carried(case, directions)
        size = max(float(np.linalg.norm(reverse)), float(np.linalg.norm(forward)))
        return _Sums(float(forward.sum()), float(reverse.sum()), size, self._notes())

    def _carried(self, case: check_case.Case, directions: Directions) -> check_numbers.HostArray:
        """The witness's tangents, weighted."""
        other = self._same_variables(case)
        self._set_notes()
        return check_case.pushed_forward(other, directions, self._weights)

    def _same_variables(self, case: check_case.Case | None = None) -> check_case.Case:
        """The witness with these arguments, and with variables as they are."""
        if isinstance(self._subject, Kernel) and isinstance(self._witness, Kernel):
            copy_variables(self._subject, self._witness)
        return self._made(self._witness, (case or self._case).values)

    def _set_notes(self) -> None:
        self._witness._backend.write_variable(NOTES, bytes(4 * _NOTES))  # noqa: SLF001

    def _notes(self) -> tuple[int, ...]:
        data = self._witness._backend.read_variable(NOTES, 4 * _NOTES)  # noqa: SLF001
        return tuple(np.frombuffer(data, np.uint32).tolist())


def _variable_of_arrays(subject: Subject) -> str:
    """The name of a variable that leads to arrays that are not const, of which nothing makes copies."""
    if not isinstance(subject, Kernel):
        return ""
    pointers = (
        v.name
        for v in subject.signature.variables
        if any(leaf.kind == "pointer" and (v.has_shadow or not leaf.const) for leaf in v.dtype.leaves())
    )
    return next((name for name in pointers if subject.variables.is_set(name)), "")


def _case(subject: Subject, values: check_case.Values, launch: Launch | None) -> check_case.Case:
    if isinstance(subject, Kernel):
        if launch is None:
            raise TypeError(launch)
        return check_case.kernel_case(subject, values, launch)
    return check_case.function_case(subject, values)
