"""What a tape is asked: outputs with cotangents, and what they are differentiated with respect to, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import DataType, Parameter, Signature, Target
from enzyme_driver.runtime.call.arrays import ArrayView, check_view, cuda_view, host_view, is_array, is_on_gpu
from enzyme_driver.runtime.call.calls import RecordedStep
from enzyme_driver.runtime.call.slots import Slot

_ANY = DataType("any", "opaque", 1)


@dataclass(frozen=True)
class Seen:
    """An array and where it lies."""

    array: object
    view: ArrayView

    @property
    def extent(self) -> tuple[int, int]:
        """Its first address, and the one behind it."""
        return self.view.address, self.view.address + self.view.nbytes


def seen(array: object, label: str, *, writable: bool = False) -> Seen:
    """An array of any type, which must be contiguous. Raises ArgumentError."""
    if not is_array(array):
        raise ArgumentError(f"{label} is {type(array).__name__}, not an array", hint="give an array of a launch")
    target = target_of(array)
    parameter = Parameter(label, "pointer", _ANY, not writable, "const")
    slot = Slot(Signature("adgen.Tape", "function", "", (parameter,)), parameter, "argument", target, writable)
    view = (cuda_view if target == "cuda" else host_view)(array, slot)
    check_view(view, slot, array)
    return Seen(array, view)


def target_of(array: object) -> Target:
    """The target whose launches can use the array."""
    return "cuda" if is_on_gpu(array) else "openmp"


def listed(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else (value,)


@dataclass(frozen=True)
class GradientQuery:
    """The arrays among the outputs with their cotangents, the cotangents of returned numbers by step, and `wrt`."""

    arrays: tuple[tuple[Seen, Seen], ...]
    numbers: dict[int, float]
    wrt: tuple[Seen | str, ...]


class QueryValidator:
    """Checks a question to the tape that has these steps."""

    def __init__(self, steps: Sequence[RecordedStep], owner: object) -> None:
        self._steps = steps
        self._owner = owner
        self._accesses = [access for step in steps for access in step.accesses]

    def question(self, outputs: object, wrt: object, cotangents: object) -> GradientQuery:
        """Raises ArgumentError for whatever does not belong to the tape or does not fit."""
        arrays: list[tuple[Seen, Seen]] = []
        numbers: dict[int, float] = {}
        for place, (output, weight) in enumerate(_paired(outputs, cotangents)):
            if isinstance(output, Number):
                self._check_own(output, place)
                numbers[output.step] = numbers.get(output.step, 0.0) + _cotangent(weight, place)
            else:
                arrays.append(self._array(output, weight, place))
        _check_apart([output for output, _ in arrays])
        return GradientQuery(tuple(arrays), numbers, tuple(map(self._wrt, listed(wrt), range(len(listed(wrt))))))

    def _check_own(self, output: Number, place: int) -> None:
        if output.tape is not self._owner:
            raise ArgumentError(f"outputs[{place}] was returned on another tape", hint="ask that tape")

    def _array(self, output: object, weight: object, place: int) -> tuple[Seen, Seen]:
        if isinstance(output, float):
            raise ArgumentError(
                f"outputs[{place}] is a number that no recorded function returned as it is",
                hint="give the returned numbers themselves, and weight them with cotangents",
            )
        found = self._with_shadow(output, f"outputs[{place}]")
        if weight is None:
            raise ArgumentError(f"outputs[{place}] is an array without a cotangent", hint="give an array like it")
        cotangent = seen(weight, f"cotangents[{place}]")
        wanted, got = found.view, cotangent.view
        if (wanted.layout, wanted.shape) != (got.layout, got.shape):
            raise ArgumentError(
                f"cotangents[{place}] is {got.dtype} of shape {got.shape}; the output is {wanted.dtype} of shape "
                f"{wanted.shape}",
                hint="make it with zeros_like of the output",
            )
        return found, cotangent

    def _wrt(self, wrt: object, place: int) -> Seen | str:
        if not isinstance(wrt, str):
            return self._with_shadow(wrt, f"wrt[{place}]")
        names = sorted({parameter.name for step in self._steps for parameter in step.scalars})
        if wrt in names:
            return wrt
        raise ArgumentError(
            f"wrt {wrt!r}: no recorded launch has an active parameter of that name",
            hint=f"there are {', '.join(names)}" if names else f'compile with activity={{"{wrt}": "active"}}',
        )

    def _with_shadow(self, array: object, label: str) -> Seen:
        found = seen(array, label)
        start, end = found.extent
        used = [access for access in self._accesses if access.start < end and start < access.end]
        if any(access.shadowed for access in used):
            return found
        names = " and ".join(sorted({access.name for access in used}))
        raise ArgumentError(
            f"{label} is in a parameter without a derivative: {names}" if used else f"no launch has used {label}",
            hint="give an array that launches used, not a copy of it, in a parameter that has a derivative",
        )


class Number(float):
    """What a recorded function returned; an output of its tape."""

    tape: object
    step: int

    def __new__(cls, value: float, tape: object, step: int) -> Self:
        number = super().__new__(cls, value)
        number.tape, number.step = tape, step
        return number


def _paired(outputs: object, cotangents: object) -> Sequence[tuple[object, object]]:
    many = listed(outputs)
    if cotangents is None:
        return [(output, None) for output in many]
    weights = listed(cotangents) if many is outputs else (cotangents,)
    if len(weights) != len(many):
        raise ArgumentError(f"{len(many)} outputs have {len(weights)} cotangents", hint="give one for each output")
    return list(zip(many, weights, strict=True))


def _cotangent(weight: object, place: int) -> float:
    if weight is None:
        return 1.0
    if not isinstance(weight, (int, float)):
        hint = "give a number: the output is one"
        raise ArgumentError(f"cotangents[{place}] is {type(weight).__name__}", hint=hint)
    return float(weight)


def _check_apart(outputs: Sequence[Seen]) -> None:
    for number, output in enumerate(outputs):
        if any(output.view.overlaps(other.view) for other in outputs[:number]):
            raise ArgumentError("two outputs share memory", hint="give each array once, with the sum of its cotangents")
