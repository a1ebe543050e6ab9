"""What a tape holds: launches and calls with their arguments converted, which can be run again on other memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from enzyme_driver.model import Activity, DataType, Parameter, Signature, Target, TargetEntry
from enzyme_driver.runtime.backends.memory import Memory, memory_of
from enzyme_driver.runtime.call.arrays import ArrayView
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.members import members
from enzyme_driver.runtime.call.packing import pointer_bytes
from enzyme_driver.runtime.call.plain import PlainCall
from enzyme_driver.runtime.call.prepared import PreparedArguments, Value, prepared
from enzyme_driver.runtime.call.slots import argument_slot, written
from enzyme_driver.runtime.call.values import scalar_bytes
from enzyme_driver.runtime.transforms.batch import Batch

Place = Callable[[int], int]
"""Where the memory at an address of the recorded arguments is this time."""


class Backend(Protocol):
    """Runs prepared calls on one target."""

    target: Target

    def launch(self, entry: TargetEntry, prepared: PreparedArguments, launch: Launch, *, gradient: bool) -> None: ...

    def repeated(
        self, entry: TargetEntry, prepared: PreparedArguments, launch: Launch, *, gradient: bool
    ) -> Callable[[], bool] | None: ...

    def launch_batch(
        self, signature: Signature, entry: TargetEntry, prepared: PreparedArguments, launch: Launch, batch: Batch
    ) -> None: ...

    def call(self, entry: TargetEntry, prepared: PreparedArguments, result_size: int, *, gradient: bool) -> bytes: ...

    def runs_plain(self, entry: TargetEntry, launch: Launch | None, *, gradient: bool) -> bool: ...

    def run_plain(
        self, entry: TargetEntry, call: PlainCall, launch: Launch | None, result_size: int, *, gradient: bool
    ) -> bytes: ...

    def stream_of(self, launch: Launch, prepared: PreparedArguments) -> int | None: ...

    def is_capturing(self, launch: Launch, prepared: PreparedArguments) -> bool: ...

    def finish(self) -> None: ...

    @property
    def free_bytes(self) -> int: ...

    @property
    def binary(self) -> str: ...

    def read_variable(self, symbol: str, size: int) -> bytes: ...

    def write_variable(self, symbol: str, data: bytes) -> None: ...


@dataclass(frozen=True)
class RecordedAccess:
    """The memory behind one argument, from `start` to `end`; `array` is what was given."""

    name: str
    start: int
    end: int
    reads: bool
    writes: bool
    activity: Activity
    array: object

    @property
    def shadowed(self) -> bool:
        return self.activity != "const"


class RecordedStep(Protocol):
    """One move of a recorded computation."""

    @property
    def name(self) -> str: ...

    @property
    def target(self) -> Target: ...

    @property
    def accesses(self) -> tuple[RecordedAccess, ...]: ...

    @property
    def differentiated(self) -> bool:
        """Whether it has a gradient."""

    @property
    def scalars(self) -> tuple[Parameter, ...]:
        """The parameters that have a one-element shadow: numbers and structs by value."""

    def memory(self, stream: object) -> Memory:
        """The memory of its arguments in the order of a stream, None for the one it was recorded on."""

    def primal(self, memory: Memory | None, place: Place) -> bytes:
        """Run it, in the order of `memory` (None: as it was recorded); what it returned."""

    def gradient(
        self, memory: Memory, place: Place, shadow: Place, scalars: Mapping[str, int], cotangent: float
    ) -> None:
        """Run its gradient; `scalars` holds the addresses of one-element shadows."""


@dataclass(frozen=True)
class Call:
    """A launch of a kernel, or a call of a function (`launch` is None); `values` has one value a parameter."""

    signature: Signature
    entry: TargetEntry
    backend: Backend
    launch: Launch | None
    values: tuple[Value, ...]

    @property
    def name(self) -> str:
        return self.signature.name

    @property
    def target(self) -> Target:
        return self.backend.target

    @property
    def differentiated(self) -> bool:
        return bool(self.signature.shadowed)

    @cached_property
    def accesses(self) -> tuple[RecordedAccess, ...]:
        found = (_access(parameter, value) for parameter, value in self._arrays)
        return tuple(access for access in found if access.start < access.end)

    @property
    def scalars(self) -> tuple[Parameter, ...]:
        pairs = zip(self.signature, self.values, strict=True)
        return tuple(each for each, value in pairs if each.has_shadow and value.view is None and not value.parts)

    def memory(self, stream: object) -> Memory:
        recorded = self.launch.stream if self.launch else None
        return memory_of(self.target, recorded if stream is None else stream, self._passed.views, self._passed.keep)

    def primal(self, memory: Memory | None, place: Place) -> bytes:
        return self._run(memory, self._placed(place), gradient=False)

    def gradient(
        self, memory: Memory, place: Place, shadow: Place, scalars: Mapping[str, int], cotangent: float
    ) -> None:
        pairs = zip(self.signature, self.values, strict=True)
        shadows = [
            pointer_bytes(scalars[each.name]) if each.name in scalars else _shadow(each, value, place, shadow)
            for each, value in pairs
            if each.has_shadow
        ]
        kind = self.signature.returns
        last = [self._cotangent(cotangent, kind)] if kind else []
        self._run(memory, [*self._placed(place), *shadows, *last], gradient=True, place=place)

    @cached_property
    def _arrays(self) -> tuple[tuple[Parameter, Value], ...]:
        found = [*zip(self.signature, self.values, strict=True)]
        found += [(slot.parameter, part) for value in self.values for slot, part in value.parts]
        return tuple((parameter, value) for parameter, value in found if value.view is not None)

    @cached_property
    def _passed(self) -> PreparedArguments:
        """As it was recorded."""
        return prepared(self.values)

    def _placed(self, place: Place) -> list[bytes]:
        return [_moved(parameter, value, place) for parameter, value in zip(self.signature, self.values, strict=True)]

    def _cotangent(self, cotangent: float, kind: DataType) -> bytes:
        parameter = Parameter("cotangent", "scalar", kind, True, "const")
        return scalar_bytes(cotangent, argument_slot(self.signature, parameter, self.target))

    def _run(
        self, memory: Memory | None, values: Sequence[bytes], *, gradient: bool, place: Place | None = None
    ) -> bytes:
        given = replace(self._passed, values=tuple(values))
        if place:
            found = [(parameter, value.view) for parameter, value in self._arrays if written(parameter)]
            overwritten = tuple((place(view.address), view.nbytes) for _, view in found if view)
            given = replace(given, overwritten=overwritten)
        if self.launch is None:
            kind = self.signature.returns
            return self.backend.call(self.entry, given, kind.size if kind and not gradient else 0, gradient=gradient)
        launch = self.launch if memory is None else replace(self.launch, stream=memory.stream)
        self.backend.launch(self.entry, given, launch, gradient=gradient)
        return b""


def _moved(parameter: Parameter, value: Value, place: Place) -> bytes:
    """The value with the addresses in it replaced."""
    if value.view is not None:
        return pointer_bytes(place(value.view.address))
    data, parts = bytearray(value.data), {slot.parameter.name: part for slot, part in value.parts}
    for member in members(parameter) if parts else ():
        part = parts.get(member.parameter.name)
        if part is not None and part.view is not None:
            held = member.holding(place(part.view.address), part.view.nbytes)
            data[member.offset : member.offset + len(held)] = held
    return bytes(data)


def _shadow(parameter: Parameter, value: Value, place: Place, shadow: Place) -> bytes:
    """The shadow of an array, or of a struct of arrays: the same with shadows, and no numbers of floating point."""
    data = bytearray(_moved(parameter, value, shadow))
    primal = _moved(parameter, value, place)
    for member in members(parameter) if value.parts else ():
        kind, span = member.parameter, slice(member.offset, member.offset + member.parameter.dtype.size)
        if kind.is_scalar and kind.dtype.has_floats:
            data[span] = bytes(kind.dtype.size)
        elif kind.is_pointer and not kind.has_shadow:
            held = slice(member.offset, member.offset + len(member.holding(0, 0)))
            data[held] = primal[held]
    return bytes(data)


def _access(parameter: Parameter, value: Value) -> RecordedAccess:
    start, size = (value.view.address, value.view.nbytes) if value.view else (0, 0)
    return RecordedAccess(
        name=parameter.name,
        start=start,
        end=start + size,
        reads=parameter.reads,
        writes=written(parameter),
        activity=parameter.activity,
        array=value.keep,
    )


@dataclass(frozen=True)
class Zeroing:
    """An array set to zero."""

    target: Target
    array: object
    view: ArrayView
    name: str = "zero"
    differentiated: bool = True
    scalars: tuple[Parameter, ...] = ()

    @property
    def accesses(self) -> tuple[RecordedAccess, ...]:
        start, end = self.view.address, self.view.address + self.view.nbytes
        return (RecordedAccess("array", start, end, reads=False, writes=True, activity="duplicated", array=self.array),)

    def memory(self, stream: object) -> Memory:
        return memory_of(self.target, stream, [self.view], [self.array])

    def primal(self, memory: Memory | None, place: Place) -> bytes:
        (memory or self.memory(None)).zero(place(self.view.address), self.view.nbytes)
        return b""

    def gradient(
        self, memory: Memory, place: Place, shadow: Place, scalars: Mapping[str, int], cotangent: float
    ) -> None:
        del place, scalars, cotangent
        memory.zero(shadow(self.view.address), self.view.nbytes)
