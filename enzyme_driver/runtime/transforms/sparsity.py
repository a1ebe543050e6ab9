"""Which numbers of an output depend on which numbers of an input, by sets of inputs carried through the launch."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from enzyme_driver.errors import ArgumentError, RefusedError
from enzyme_driver.model import Parameter, Signature
from enzyme_driver.runtime.call.arguments import Arguments
from enzyme_driver.runtime.call.arrays import is_array
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.layouts import declared_layout
from enzyme_driver.runtime.call.members import flattened
from enzyme_driver.runtime.call.prepared import PreparedArguments
from enzyme_driver.runtime.call.slots import written
from enzyme_driver.runtime.transforms.cross_target import copy_variables, placed
from enzyme_driver.runtime.transforms.jvp import Jvp
from enzyme_driver.runtime.transforms.numbers import Numbers
from enzyme_driver.runtime.transforms.refinement import Words, refined

if TYPE_CHECKING:
    from enzyme_driver.runtime.kernel import Kernel

NOTES = "adgen_shadow_notes"
LANE = "adgen_set_lane"
"""Variables of the compiled code, see stages/witness.py."""

_LOST = {0: "single bits of numbers are taken out", 1: "numbers that vary are stored to memory without a derivative"}
_STEERED = 4
_NOTE_BYTES = 20

Array = tuple[Parameter, Any]

KNOWN = 8
"""Patterns that a kernel remembers."""


class Patterns:
    """Finds patterns of one kernel; `carrying` compiles what carries sets through it, for the host.

    It is told whether sets hold what decisions are made by, too.
    """

    def __init__(self, carrying: Callable[[bool], Kernel]) -> None:
        self._make = carrying
        self._carrying: dict[bool, Kernel] = {}
        self._known: OrderedDict[bytes, Any] = OrderedDict()

    def find(
        self,
        subject: Kernel,
        values: Sequence[object],
        launch: Launch,
        of: str,
        wrt: str,
        *,
        for_all: bool = False,
    ) -> Any:  # noqa: ANN401
        """CSR of ones [numbers of `of`, numbers of `wrt`] at these arguments, or `for_all` contents of `wrt`.

        Raises ArgumentError for what is no array with a derivative, RefusedError where sets cannot be carried.
        """
        asked_arrays(subject.signature, values, of, wrt)
        if for_all not in self._carrying:
            self._carrying[for_all] = self._make(for_all)
        carrying = self._carrying[for_all]
        copies = [placed(value, subject.target, "openmp") for value in values]
        key = _key(subject, copies, launch, (of, wrt, for_all))
        if key not in self._known:
            copy_variables(subject, carrying)
            self._known[key] = _Launches(carrying, copies, replace(launch, stream=None), of, wrt, for_all).pattern()
            if len(self._known) > KNOWN:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key].copy()

    def forget(self) -> None:
        """Find every pattern anew."""
        self._known.clear()


def asked_arrays(signature: Signature, values: Sequence[object], of: str, wrt: str) -> tuple[Array, Array]:
    """Both arrays with their parameters; a member of a struct is spelled `fluid.density`.

    Raises ArgumentError unless both have a derivative, and the first one is written.
    """
    flat = (part for p, value in zip(signature, values, strict=True) for part in flattened(p, value))
    arrays = {
        each.name: (each, value) for each, value in flat if each.is_pointer and each.has_shadow and is_array(value)
    }
    for name in (of, wrt):
        if name not in arrays:
            raise ArgumentError(
                f"{signature.name} has no array {name!r} with a derivative",
                hint=f"it has {', '.join(arrays) or 'none'}",
            )
    if not written(arrays[of][0]):
        outputs = ", ".join(name for name, (each, _) in arrays.items() if written(each)) or "nothing with a derivative"
        raise ArgumentError(f"{signature.name} does not write {of!r}", hint=f"it writes {outputs}")
    return arrays[of], arrays[wrt]


@dataclass(frozen=True)
class _Launches:
    """The launches of one question. Arrays are those of the host, and stay as they are."""

    carrying: Kernel
    values: Sequence[object]
    launch: Launch
    of: str
    wrt: str
    for_all: bool

    def pattern(self) -> Any:  # noqa: ANN401
        entry = self.carrying._forward_entry()  # noqa: SLF001  (of the same package)
        backend = self.carrying._backend  # noqa: SLF001
        signature = self.carrying.signature
        lane = int.from_bytes(backend.read_variable(LANE, 4), "little")
        made, given = asked_arrays(signature, self.values, self.of, self.wrt)
        outputs, inputs = Numbers(*made), Numbers(*given)
        arguments = Arguments(signature.forward, "openmp")

        # Both sides of a choice count in each pass or in none: one element of a set says whether any input is in it.
        any_input = np.uint64(1 << (lane - 1) if self.for_all else 0)

        def run(seeds: Words) -> Words:
            product = Jvp(arguments, self.values, {self.wrt: _holding(inputs, given[1], seeds | any_input)})
            backend.write_variable(NOTES, bytes(_NOTE_BYTES))
            prepare = partial(_without_integers, arguments)
            carry = partial(self.carrying._differentiate, entry, arguments, prepare, self.launch)  # noqa: SLF001
            found = product.run(carry, None)[self.of]
            self._check_notes(backend.read_variable(NOTES, _NOTE_BYTES))
            return _sets(outputs, found, lane) & ~any_input

        return refined(run, outputs.count, inputs.count, lane - 1 if self.for_all else lane)

    def _check_notes(self, data: bytes) -> None:
        notes = np.frombuffer(data, np.uint32)
        if notes[_STEERED]:
            raise RefusedError(
                f"the pattern of {self.carrying.name} for all contents of {self.wrt!r}: which way is taken, or an "
                f"address, depends on it (line {notes[_STEERED]})",
                hint="without global_ the pattern is that of the way that these arguments take",
            )
        for kind, reason in _LOST.items():
            if notes[kind]:
                raise RefusedError(
                    f"the pattern of {self.carrying.name}: {reason} (line {notes[kind]})",
                    hint="give the pattern of the Jacobian",
                )


def _without_integers(
    arguments: Arguments, values: Sequence[object], shadows: Mapping[str, object]
) -> PreparedArguments:
    """The call, with shadows of structs that hold nothing but pointers: an integer is no set."""
    made, signature = arguments.forward(values, shadows), arguments.signature
    cleared = list(made.values)
    for place, parameter in enumerate(signature.shadowed, start=len(signature)):
        if not parameter.shadow_is_pointer:
            data = bytearray(len(cleared[place]))
            for leaf in declared_layout(parameter.dtype)[1]:
                if leaf.kind == "p":
                    data[leaf.offset : leaf.offset + leaf.size] = cleared[place][leaf.offset : leaf.offset + leaf.size]
            cleared[place] = bytes(data)
    return replace(made, values=tuple(cleared))


def _holding(numbers: Numbers, like: Any, sets: Words) -> Any:  # noqa: ANN401
    """An array like the given one whose numbers are these sets."""
    made = np.zeros_like(like, order="C")
    data = made.reshape(-1).view(np.uint8).reshape(numbers.elements, -1)
    by_element = sets.reshape(numbers.elements, len(numbers.places))
    for place, (offset, size) in enumerate(numbers.places):
        column = np.ascontiguousarray(by_element[:, place]).astype(f"<u{size}")
        data[:, offset : offset + size] = column[:, None].view(np.uint8)
    return made


def _sets(numbers: Numbers, array: Any, lane: int) -> Words:  # noqa: ANN401
    """The sets in an array: a number that is wider than a lane may have elements in each."""
    row, sets = np.ascontiguousarray(array).reshape(1, -1), []
    for place, (_, size) in enumerate(numbers.places):
        column = numbers.column(row, place)[0].astype(np.uint64)
        sets.append(np.bitwise_or.reduce([column >> np.uint64(by) for by in range(0, 8 * size, lane)]))
    return (np.stack(sets, -1) & np.uint64(2**lane - 1)).reshape(-1)


def _key(subject: Kernel, values: Sequence[object], launch: Launch, asked: tuple[object, ...]) -> bytes:
    """Of all that decides about a pattern: every argument's content, the variables, the launch."""
    digest = hashlib.sha256(repr((launch.grid, launch.block, launch.shared_bytes, asked)).encode())
    for value in [*values, *_variables(subject)]:
        _add(digest, value)
    return digest.digest()


def _variables(subject: Kernel) -> list[object]:
    known = subject.signature.variables
    return [np.asarray(subject.variables[each.name]) for each in known if not each.dtype.has_pointers]


def _add(digest: Any, value: object) -> None:  # noqa: ANN401
    if isinstance(value, Mapping):
        for name, member in value.items():
            digest.update(f"{name}:".encode())
            _add(digest, member)
    elif is_array(value):
        array = np.ascontiguousarray(value)
        digest.update(repr((array.dtype, array.shape)).encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    else:
        digest.update(repr(value).encode())
