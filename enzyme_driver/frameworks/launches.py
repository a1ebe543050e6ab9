"""Launches of compiled code as operations of a program: arguments checked and converted by the runtime's own rules.

The runtime converts arrays to addresses. Here it is given stand-ins, each with an address of its own that nothing lies
at; where such an address is found in a converted argument, the program has a patch for the buffer's real one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from enzyme_driver.errors import ArgumentError, RefusedError
from enzyme_driver.frameworks.code import Unit
from enzyme_driver.frameworks.plan import PlannedLaunch, Reference, Spec, itemsize
from enzyme_driver.frameworks.program import Argument, Patch, Program, Run, Shadow, Tape
from enzyme_driver.model import Mode, Parameter, Signature, TargetEntry
from enzyme_driver.runtime.call.arrivals import have_one_order, refused
from enzyme_driver.runtime.call.layouts import declared_layout
from enzyme_driver.runtime.call.members import assembled, flattened
from enzyme_driver.runtime.call.prepared import PreparedArguments
from enzyme_driver.runtime.callables import derivative_of, primal_of
from enzyme_driver.settings import Settings

_FIRST = 1 << 44
_GAP = 4096  # between two stand-ins, so that the end of one is not the begin of the next


class StandIn:
    """An array of this shape and dtype that holds a buffer's place among arguments."""

    def __init__(self, buffer: int, spec: Spec, address: int) -> None:
        self.buffer = buffer
        self.spec = spec
        self.address = address
        self.ndim = len(spec.shape)
        self.shape = spec.shape
        self.dtype = spec.dtype

    @property
    def _interface(self) -> dict[str, Any]:
        import numpy as np

        bits = self.dtype == "bfloat16"
        return {
            "shape": self.shape,
            "typestr": "<u2" if bits else np.dtype(self.dtype).str,
            "data": (self.address, False),
            "strides": None,
            "version": 3,
        }

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._interface

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._interface


class StandIns:
    """One for each use of a buffer of the program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: list[StandIn] = []
        self._next = _FIRST

    def of(self, buffer: int, spec: Spec) -> StandIn:
        for known in self._known:
            if known.buffer == buffer and known.spec == spec:
                return known
        made = StandIn(buffer, spec, self._next)
        self._known.append(made)
        self._next += -(-(spec.nbytes + _GAP) // _GAP) * _GAP
        return made

    def at(self, address: int) -> tuple[StandIn, int] | None:
        """Whose address this is, and how far behind its begin; None for what is no stand-in's."""
        index = bisect_right(self._known, address, key=lambda each: each.address) - 1
        if index < 0:
            return None
        found = self._known[index]
        return (found, address - found.address) if address - found.address < found.spec.nbytes + _GAP else None


def with_stand_ins(value: Any, made: Mapping[int, StandIn]) -> Any:
    """The argument of a step with stand-ins in place of references."""
    if isinstance(value, Reference):
        return made[value.number]
    if isinstance(value, Mapping):
        return {key: with_stand_ins(item, made) for key, item in value.items()}
    if isinstance(value, list):
        return [with_stand_ins(item, made) for item in value]
    return value


def parts(
    signature: Signature, step: PlannedLaunch, made: Mapping[int, StandIn]
) -> Iterator[tuple[Parameter, StandIn]]:
    """The arrays of a step with the parameters, or members of structs, that they are given for."""
    values = bound(signature, step, made)
    for parameter, value in zip(signature, values, strict=True):
        for member, item in flattened(parameter, value):
            if isinstance(item, StandIn):
                yield member, item


def bound(signature: Signature, step: PlannedLaunch, made: Mapping[int, StandIn]) -> tuple[Any, ...]:
    """One value a parameter. Raises ArgumentError where their number is another."""
    if len(step.arguments) != len(signature):
        wanted = f"{signature.name} takes {len(signature)} arguments, got {len(step.arguments)}"
        raise ArgumentError(wanted, hint=f"the signature is {signature}")
    values = tuple(with_stand_ins(value, made) for value in step.arguments)
    for parameter, value in zip(signature, values, strict=True):
        if parameter.holds_table and isinstance(value, (list, Mapping)):
            raise ArgumentError(
                f"{str(parameter)!r} of {signature.name} points to pointers, which an operator cannot give",
                hint="write a kernel that takes one array, makes the pointers and calls what this one does",
            )
    return values


@dataclass(frozen=True)
class GradientQuery:
    """One launch to be made an operation of a program: of the primal, or of a derivative with these shadows by name.

    `seeds` are the shadows' own tangents, for second derivatives; `last` is the cotangent of what a function returns,
    `last_tangent` a zero for its tangent.
    """

    unit: Unit
    step: PlannedLaunch
    values: tuple[Any, ...]
    shadows: Mapping[str, StandIn]
    seeds: Mapping[str, StandIn]
    last: StandIn | None = None


def operation(question: GradientQuery, mode: Mode | None, stand_ins: StandIns, result: int = -1) -> Run:
    """The launch of the primal (mode None), of the gradient, of what carries tangents, or of second derivatives."""
    unit, step = question.unit, question.step
    values, numbers = _without_numbers(unit.signature, question.values)
    entry = derivative_of(unit.entry, unit.target, mode) if mode else primal_of(unit.entry, unit.target)
    converted = _prepared(question, mode, values)
    data = list(converted.values)
    patched = [_argument(item, spec, stand_ins) for item, spec in zip(data, _types(unit, mode, data), strict=True)]
    for position, number in numbers.items():
        patched[position] = Argument(patched[position].data, (Patch(0, number.buffer, number.spec.nbytes, value=True),))
    if question.last is not None and mode is not None:
        last = question.last
        place = len(patched) if mode == "reverse" else len(unit.signature.gradient) - 1
        argument = Argument(bytes(last.spec.nbytes), (Patch(0, last.buffer, last.spec.nbytes, value=True),))
        patched[place : place + (mode != "reverse")] = [argument]
    gpu = unit.target == "cuda"
    if mode is not None and unit.signature.chooses:
        raise RefusedError(
            f"atomics of {unit.signature.name} choose which value remains, so that its derivative runs twice, which an "
            "operator does not",
            hint="find the maximum or minimum by a tree of values in shared memory",
        )
    launch = step.launch(unit.signature)
    if mode is not None and unit.signature.unordered and not have_one_order(launch, unit.target, None):
        raise refused(unit.signature, "an operator's gradient, which runs it again, would bring two of them together")
    if gpu and entry.waits(derivative=mode is not None):
        raise RefusedError(
            f"{unit.signature.name} waits for the whole grid, which an operator cannot launch on a GPU",
            hint="launch it with kernel[grid, block], or split it where its blocks wait for each other",
        )
    block = launch.block if launch else (0, 0, 0)
    shared = launch.shared_bytes if launch else 0
    lent = 0
    if gpu and mode is not None:
        if entry.dynamic_shared:
            patched.append(Argument(shared.to_bytes(4, "little")))
        shared = entry.dynamic_bytes(shared, derivative=True)
        if launch and not shared:
            shared = lent = entry.lent_bytes(converted.shadow_bytes, launch.grid)
    return Run(
        gpu=gpu,
        file=str(unit.binary()),
        symbol=unit.for_block(entry.kernel(derivative=mode is not None, lent=lent), prod(block)),
        grid=launch.grid if launch else (0, 0, 0),
        block=block,
        shared_bytes=shared,
        arguments=tuple(patched),
        result=result,
        shadows=tuple(_told(converted, stand_ins)) if mode == "reverse" else (),
        tape=_tape(entry, converted, stand_ins) if gpu and mode == "reverse" and entry.tape else None,
        heap_bytes=Settings.from_environment().device_heap if gpu and mode is not None and entry.heap else 0,
    )


def _prepared(question: GradientQuery, mode: Mode | None, values: tuple[Any, ...]) -> PreparedArguments:
    unit = question.unit
    if mode is None:
        return unit.arguments.primal(values)
    if mode == "reverse":
        return unit.arguments.gradient(values, _whole(unit.signature, question.shadows))
    if mode == "forward":
        return unit.tangents.forward(values, _whole(unit.signature.forward, question.shadows))
    shadowed = unit.signature.shadowed
    shadows = [assembled(parameter, question.shadows) for parameter in shadowed]
    last = (0.0,) if unit.signature.returns else ()
    return unit.twice.forward((*values, *shadows, *last), _whole(unit.signature.gradient.forward, question.seeds))


def _whole(signature: Signature, shadows: Mapping[str, StandIn]) -> dict[str, object]:
    """By parameter: the members of a struct as a dict."""
    return {parameter.name: assembled(parameter, shadows) for parameter in signature.shadowed}


def _without_numbers(signature: Signature, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[int, StandIn]]:
    """The values with zeros where an array of no dimension is given for a number, and these arrays by position."""
    found: dict[int, StandIn] = {}
    given = list(values)
    for position, (parameter, value) in enumerate(zip(signature, values, strict=True)):
        if parameter.form != "scalar" or not isinstance(value, StandIn):
            continue
        if value.shape or value.dtype != parameter.dtype.name:
            plain = "float" if parameter.dtype.kind == "float" else "int"
            raise ArgumentError(
                f"argument {parameter.name!r} of {signature}: {value.spec} for a number of type {parameter.dtype}",
                hint=f"give an array of shape () and dtype {parameter.dtype}; a plain number is one that the "
                f"description annotates: `{parameter.name}: {plain}`",
            )
        found[position], given[position] = value, 0
    return tuple(given), found


def _types(unit: Unit, mode: Mode | None, data: Sequence[bytes]) -> Iterator[Parameter | None]:
    """The parameter of each converted value; None for what is an address."""
    own = list(unit.signature)
    shadows = {
        None: (),
        "reverse": unit.signature.shadowed,
        "forward": unit.signature.forward.shadowed,
        "second": (),
    }[mode]
    everything: list[Parameter] = [*own, *(parameter.shadow for parameter in shadows)]
    if mode == "second":
        twice = unit.signature.gradient.forward
        everything = [*twice, *(parameter.shadow for parameter in twice.shadowed)]
    for position in range(len(data)):
        yield everything[position] if position < len(everything) else None


def _argument(data: bytes, parameter: Parameter | None, stand_ins: StandIns) -> Argument:
    if parameter is None or parameter.form == "pointer":
        places = [0] if parameter is not None else []
    else:
        places = [leaf.offset for leaf in declared_layout(parameter.dtype)[1] if leaf.kind == "p"]
    patches = []
    for place in places:
        address = int.from_bytes(data[place : place + 8], "little")
        found = stand_ins.at(address)
        if found is None and address != 0:
            raise RefusedError(
                f"argument {parameter.name if parameter else ''!r} is a reference to a number of Python's",
                hint="give an array with one element: launch.empty, or an input of the operator",
            )
        if found is not None:
            patches.append(Patch(place, found[0].buffer, found[1]))
    return Argument(data, tuple(patches))


def _told(converted: PreparedArguments, stand_ins: StandIns) -> Iterator[Shadow]:
    for each in converted.accumulated:
        found = stand_ins.at(each.start)
        if found is not None:
            place = -1 if each.argument is None else each.argument
            yield Shadow(place, each.number, each.nbytes, found[0].buffer)


def _tape(entry: TargetEntry, converted: PreparedArguments, stand_ins: StandIns) -> Tape:
    overwritten = []
    for address, _ in (converted.overwritten or ()) if entry.tape_size_from == "run in place" else ():
        found = stand_ins.at(address)
        if found is not None:
            overwritten.append(found[0].buffer)
    limit = Settings.from_environment().tape_limit
    return Tape(str(entry.tape), str(entry.tape_size_from), limit, tuple(overwritten))


def element_size(spec: Spec) -> int:
    """Bytes of the floating-point numbers that the elements are made of."""
    return itemsize(spec.dtype) // (2 if spec.dtype.startswith("complex") else 1)
