"""The arguments of one call, bound to the signature, checked, and turned into values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations

from enzyme_driver.errors import ArgumentError, RefusedError
from enzyme_driver.model import DataType, Parameter, Signature, Target, owner
from enzyme_driver.runtime.call.accumulation import accumulated
from enzyme_driver.runtime.call.arrays import ArrayView, apart
from enzyme_driver.runtime.call.conversion import (
    array_value,
    check_same_shape,
    is_null,
    struct_shadow,
    table_shadow,
    value_of,
    with_array,
)
from enzyme_driver.runtime.call.members import members, row
from enzyme_driver.runtime.call.packing import pointer_bytes
from enzyme_driver.runtime.call.prepared import PreparedArguments, Value, parts_of, prepared
from enzyme_driver.runtime.call.results import memory_for
from enzyme_driver.runtime.call.slots import Role, Slot, argument_slot, written
from enzyme_driver.runtime.call.structs import takes_members

_OWN_WORDS = {
    "shadows",
    "cotangent",
    "cotangents",
    "tangents",
    "wrt",
    "directions",
    "seed",
    "tolerance",
    "against",
    "of",
    "pattern",
}
"""Parameters of the methods of kernels and functions, which come before those of the user's code."""


class Arguments:
    """Checks the arguments of one kernel or function on one target."""

    def __init__(self, signature: Signature, target: Target) -> None:
        self.signature = signature
        self.target = target
        self._result = signature.result
        self._slots = tuple(argument_slot(signature, parameter, target) for parameter in signature)
        self._shadow_slots = tuple(
            Slot(signature, parameter, "shadow", target, writable=parameter.shadow_is_pointer)
            for parameter in signature.shadowed
        )
        self._holds_addresses = any(p.dtype.has_pointers for p in signature)
        self._has_struct_references = any(map(takes_members, signature))
        self._shadowed = frozenset(parameter.name for parameter in signature.shadowed)
        self._readonly_slots = tuple(replace(slot, writable=False) for slot in self._slots)
        self._like_slots: dict[tuple[Parameter, Role], tuple[Slot, Slot]] = {}

    def bind(self, positional: Sequence[object], named: Mapping[str, object]) -> tuple[object, ...]:
        """One object a parameter, in order, with memory for a struct that is returned. Raises ArgumentError for too
        many, too few and unknown ones.
        """
        names = self.signature.names
        if self._result and len(positional) < len(names) and self._result.name not in named:
            named = {**named, self._result.name: memory_for(self._result)}
        if len(positional) == len(names) and not named:
            return self._with_structs(positional)
        if len(positional) > len(names):
            raise self._count_error(len(positional) + len(named))
        self.check_names(named, "argument")
        given = dict(zip(names, positional, strict=False))
        twice = sorted(given.keys() & named.keys())
        if twice:
            raise ArgumentError(f"argument {twice[0]!r} is given twice", hint=f"the signature is {self._spelled}")
        given.update(named)
        if len(given) < len(names):
            raise self._count_error(len(given), missing=[name for name in names if name not in given])
        return self._with_structs([given[name] for name in names])

    def in_order(self, positional: Sequence[object], named: Mapping[str, object]) -> Sequence[object]:
        """As they are given, those given by name in order behind the others; none where these are not the rest."""
        if not named:
            return positional
        rest = self.signature.names[len(positional) :]
        if len(rest) != len(named) or not all(map(named.__contains__, rest)):
            return ()
        return [*positional, *map(named.__getitem__, rest)]

    def _with_structs(self, given: Sequence[object]) -> tuple[object, ...]:
        if not self._has_struct_references:
            return tuple(given)
        return tuple(map(with_array, self._slots, given))

    def primal(self, arguments: Sequence[object]) -> PreparedArguments:
        """The values of a primal call."""
        values = self._values(arguments)
        self._check_primal_overlap(values, gradient=False)
        return prepared(values)

    def gradient(self, arguments: Sequence[object], shadows: Mapping[str, object]) -> PreparedArguments:
        """The values of a gradient call: the primal's, then the shadows."""
        values, shadow_values = self._with_shadows(arguments, shadows)
        everything = [*values, *shadow_values]
        if self.target == "cuda":
            arrays = _arrays(self._slots, values)
            overwritten = tuple([(view.address, view.nbytes) for slot, view in arrays if written(slot.parameter)])
            hidden = self._hidden(values) if self._holds_addresses else ""
            sizes = tuple([value.view.nbytes if value.view else 0 for value in shadow_values])
            return prepared(everything, overwritten=overwritten, hidden=hidden, shadow_bytes=sizes)
        return prepared(everything, accumulated(self._shadow_arrays(len(values), shadow_values)))

    def _shadow_arrays(self, first: int, shadows: Sequence[Value]) -> Iterator[tuple[int | None, Slot, ArrayView]]:
        """With the place among the gradient's arguments of those that are no member of a struct."""
        for place, (slot, value) in enumerate(zip(self._shadow_slots, shadows, strict=True), start=first):
            for held, view in value.arrays(slot):
                yield None if value.view is None else place, held, view

    def forward(self, arguments: Sequence[object], tangents: Mapping[str, object]) -> PreparedArguments:
        """The values of a call that carries tangents, to which nothing is added: the primal's, then the tangents."""
        values, tangent_values = self._with_shadows(arguments, tangents)
        return prepared([*values, *tangent_values])

    def _with_shadows(
        self, arguments: Sequence[object], shadows: Mapping[str, object]
    ) -> tuple[list[Value], list[Value]]:
        self.check_shadow_names(shadows, "shadow")
        values = self._values(arguments)
        self._check_primal_overlap(values, gradient=True)
        if self._holds_addresses:
            self._check_addresses(values)
        by_name = dict(zip(self.signature.names, values, strict=True))
        shadow_values = [self._shadow(slot, shadows, by_name) for slot in self._shadow_slots]
        self._check_shadow_overlap(values, shadow_values)
        if self._holds_addresses:
            self._check_shadow_addresses(values, shadow_values)
        return values, shadow_values

    def recorded(self, arguments: Sequence[object]) -> tuple[Value, ...]:
        """One value a parameter, of a call whose gradient is going to be asked for without the arguments.

        Raises RefusedError for memory that only a pointer inside the arguments leads to.
        """
        if self.signature.chooses:
            hint = "choose the maximum or minimum in another way for the tape"
            raise RefusedError(f"a tape takes no kernel in which atomics choose: {self._spelled}", hint=hint)
        values = self._values(arguments)
        self._check_no_null(values)
        self._check_primal_overlap(values, gradient=bool(self.signature.shadowed))
        self._check_reachable(values)
        self._check_shared_inputs(values)
        return tuple(values)

    def untouched(self, arguments: Sequence[object]) -> PreparedArguments:
        """The values of a call that copies the arrays before it writes to them: read-only ones will do."""
        values = list(map(value_of, self._readonly_slots, arguments))
        self._check_primal_overlap(values, gradient=True)
        return prepared(values)

    def chosen(self, arguments: Sequence[object], others: Sequence[object]) -> list[tuple[ArrayView, ArrayView]]:
        """The arrays in which threads choose by atomics what remains, of both."""
        triples = zip(self._slots, self._values(arguments), self._values(others), strict=True)
        return [
            (one, other)
            for slot, mine, its in triples
            for (part, one), (_, other) in zip(mine.arrays(slot), its.arrays(slot), strict=True)
            if part.parameter.chosen
        ]

    def check_tangent(self, parameter: Parameter, tangent: object, argument: object) -> None:
        """Raise ArgumentError unless the tangent is like the array of that parameter."""
        self._check_like(argument, parameter, "tangent", tangent)

    def check_cotangent(self, parameter: Parameter, cotangent: object, argument: object) -> None:
        """Raise ArgumentError unless the kernel writes that parameter and the cotangent is like its array."""
        name = parameter.name
        if not written(parameter):
            outputs = ", ".join(p.name for p in self._outputs()) or "none"
            raise ArgumentError(
                f"cotangent {name!r}: {self.signature.name} does not write it", hint=f"what it writes: {outputs}"
            )
        self._check_like(argument, parameter, "cotangent", cotangent)

    def nothing_given(self, role: Role) -> ArgumentError:
        """The error where none is given, so that every derivative would be zero."""
        parts = self._outputs() if role == "cotangent" else iter(self.signature.shadowed)
        names = [p.name for p in parts]
        names += [v.name for v in self.signature.variables if v.has_shadow and v.name not in names]
        return ArgumentError(
            f"{role}s of {self._spelled} are missing, without which every derivative is zero",
            hint=f'give {role}s={{"{names[0] if names else "y"}": array}}, by the names of any of: {", ".join(names)}',
        )

    def _check_like(self, argument: object, parameter: Parameter, role: Role, seed: object) -> None:
        if (parameter, role) not in self._like_slots:
            slot = Slot(self.signature, parameter, role, self.target, writable=False)
            self._like_slots[parameter, role] = slot, replace(slot, role="argument")
        slot, array = self._like_slots[parameter, role]
        check_same_shape(array_value(seed, slot), array_value(argument, array), slot)

    def _outputs(self) -> Iterator[Parameter]:
        inside = (member.parameter for p in self.signature if p.form == "struct" for member in members(p))
        return (p for p in chain(self.signature, inside) if p.has_shadow and written(p))

    def check_names(self, names: Iterable[str], role: str) -> None:
        """Raise ArgumentError for a name that is no parameter, with the near ones."""
        for name in names:
            if role != "argument" and any(name == variable.name for variable in self.signature.variables):
                raise ArgumentError(
                    f"{role} {name!r}: no derivative is taken with respect to this variable of the file",
                    hint=f'compile with activity={{"{name}": "active"}}',
                )
            if name not in self.signature:
                import difflib

                near = difflib.get_close_matches(str(name), self.signature.names)
                hint = f"did you mean {' or '.join(near)}?" if near else f"the signature is {self._spelled}"
                raise ArgumentError(f"{role} {name!r}: {self.signature.name} has no such parameter", hint=hint)

    def check_shadow_names(self, names: Iterable[str], role: str) -> None:
        """Raise ArgumentError for a name that is no parameter, or one without a derivative.

        `p.x` names what the member x of the struct p points to, `p[3]` what the pointer of that number in a table does.
        """
        names = tuple(names)
        if self._shadowed.issuperset(names):
            return
        variables = {variable.name for variable in self.signature.variables if variable.has_shadow}
        for name in names:
            if role in {"wrt", "tangent", "cotangent"} and name in variables:
                continue
            parameter = self.named(name, role)
            if not parameter.has_shadow:
                wanted = "duplicated" if parameter.is_pointer else "active"
                hint = f'leave it out, or compile with activity={{"{name}": "{wanted}"}} where it holds floating point'
                if name not in self.signature:
                    hint = self._of_whole(name)
                raise ArgumentError(f"{role} {name!r}: no derivative is taken with respect to it", hint=hint)

    def _of_whole(self, name: str) -> str:
        whole = self.signature[owner(name)]
        if whole.has_shadow and not whole.dtype.has_pointers:
            return f'its derivative is a part of that of {whole.name!r}: give "{whole.name}"'
        return "leave it out: what a struct's pointers to floating point point to has a derivative"

    def named(self, name: str, role: str) -> Parameter:
        """The parameter, member or row of that name. Raises ArgumentError where there is none."""
        self.check_names([owner(name)], role)
        whole = self.signature[owner(name)]
        known = [whole, *(member.parameter for member in members(whole))]
        table, _, number = name.removesuffix("]").rpartition("[")
        for each in known:
            if each.name == name:
                return each
            if each.name == table and each.is_table and number.isdecimal():
                return row(each, int(number))
        raise ArgumentError(
            f"{role} {name!r}: {whole.name!r} has no such member", hint=f"the signature is {self._spelled}"
        )

    @property
    def _spelled(self) -> str:
        return self.signature.spelled

    def _count_error(self, given: int, missing: Sequence[str] = ()) -> ArgumentError:
        wanted, given = len(self.signature) - bool(self._result), given - bool(self._result)
        without = f"; {', '.join(map(repr, missing))} {'is' if len(missing) == 1 else 'are'} missing" if missing else ""
        own = next((name for name in missing if name in _OWN_WORDS), None)
        in_order = f"; {own}= says something of its own in some calls: give the arguments in order" if own else ""
        return ArgumentError(
            f"{self.signature.name} takes {wanted} argument{'s' * (wanted != 1)}, got {given}{without}",
            hint=f"the signature is {self._spelled}{in_order}",
        )

    def _values(self, arguments: Sequence[object]) -> list[Value]:
        return list(map(value_of, self._slots, arguments))

    def _check_primal_overlap(self, values: Sequence[Value], *, gradient: bool) -> None:
        if _apart(values):
            return
        arrays = [(held.parameter, view) for held, view in _arrays(self._slots, values)]
        for (first, view), (second, other) in combinations(arrays, 2):
            if not (written(first) or written(second)) or not view.overlaps(other):
                continue
            if gradient or first.restrict or second.restrict:
                why = "the gradient would be wrong" if gradient else "they are declared __restrict__"
                raise ArgumentError(
                    f"arguments {first.name!r} and {second.name!r} of {self._spelled} share memory, one is written, "
                    f"and {why}",
                    hint=f"give a copy for {second.name!r}",
                )

    def _check_addresses(self, values: Sequence[Value]) -> None:
        """Of arrays whose addresses a struct holds nothing more is known than where they begin."""
        hidden = list(_addresses(self._slots, values))
        begun = [(slot.parameter, view.address, view.nbytes) for slot, view in _arrays(self._slots, values)]
        for index, (first, address) in enumerate(hidden):
            for second, begin, size in (*begun, *((other, place, 1) for other, place in hidden[:index])):
                if address and begin <= address < begin + size and (written(first) or written(second)):
                    raise ArgumentError(
                        f"{first.name!r} points into {second.name!r} of {self._spelled}, one is written, "
                        "and the gradient would be wrong",
                        hint="copy one of the arrays",
                    )

    def _check_shadow_addresses(self, values: Sequence[Value], shadows: Sequence[Value]) -> None:
        arrays = [*_arrays(self._slots, values), *_arrays(self._shadow_slots, shadows)]
        seen = [(slot.label, view.address, view.nbytes) for slot, view in arrays]
        seen += [(member.name, address, 1) for member, address in _addresses(self._slots, values)]
        for member, address in _addresses(self._shadow_slots, shadows):
            if not (member.has_shadow and address):
                continue
            for other, begin, size in seen:
                if begin <= address < begin + size:
                    hint = "give every shadow an array of its own"
                    raise ArgumentError(f"the shadow of {member.name!r} points into {other}", hint=hint)
            seen.append((f"the shadow of {member.name!r}", address, 1))

    def _hidden(self, values: Sequence[Value]) -> str:
        """The name of the first argument in which there are pointers to arrays that nobody gave."""
        for slot, value in zip(self._slots, values, strict=True):
            for held, _ in value.ends(slot):
                if held.parameter.dtype.has_pointers:
                    return held.parameter.name
        return ""

    def _check_no_null(self, values: Sequence[Value]) -> None:
        for slot, value in zip(self._slots, values, strict=True):
            name = slot.parameter.name
            if slot.parameter.is_pointer and slot.parameter.has_shadow and is_null(value):
                hint = f'compile with activity={{"{name}": "const"}} for the tape'
                raise ArgumentError(f"{slot.label}: a tape takes no null pointer that has a derivative", hint=hint)

    def _check_reachable(self, values: Sequence[Value]) -> None:
        for slot, value in zip(self._slots, values, strict=True):
            own = slot.parameter
            if own.is_table or (own.dtype.has_pointers and not value.parts):
                hint = "give the struct as a dict of its arrays"
                raise self._unreachable(own, hint if own.form == "struct" else "give the kernel the arrays themselves")
            for part, _ in value.parts:
                if part.parameter.dtype.has_pointers:
                    raise self._unreachable(part.parameter, "give the kernel the arrays themselves")
            if own.form == "struct" and any(member.copied for member in members(own)):
                raise self._unreachable(own, "take the vector by reference: by value it is a copy")

    def _unreachable(self, parameter: Parameter, hint: str) -> RefusedError:
        return RefusedError(f"a tape cannot follow the pointers in {parameter.name!r} of {self._spelled}", hint=hint)

    def _check_shared_inputs(self, values: Sequence[Value]) -> None:
        if not apart(view for slot, view in _arrays(self._slots, values) if slot.parameter.has_shadow):
            raise RefusedError(
                f"two arguments of {self._spelled} share memory, and a gradient needs a shadow for each",
                hint="copy it with a kernel on the tape and give the copy, or compile with one of them const",
            )

    def _shadow(self, slot: Slot, shadows: Mapping[str, object], values: Mapping[str, Value]) -> Value:
        name = slot.parameter.name
        if slot.parameter.is_pointer and shadows.get(name) is None and is_null(values[name]):
            return Value(pointer_bytes(0))
        if name not in shadows and _leads_nowhere(slot.parameter, values[name]):
            return struct_shadow({}, slot, values[name])
        if name not in shadows:
            raise ArgumentError(
                f"the shadow of {name!r} of {self._spelled} is missing",
                hint=f'give it in shadows={{"{name}": ...}}, or compile with activity={{"{name}": "const"}}',
            )
        if slot.parameter.is_table:
            return table_shadow(shadows[name], slot, values[name])
        if not slot.parameter.shadow_is_pointer:
            return struct_shadow(shadows[name], slot, values[name])
        value = array_value(shadows[name], slot)
        check_same_shape(value, values[name], slot)
        return value

    def _check_shadow_overlap(self, values: Sequence[Value], shadows: Sequence[Value]) -> None:
        if _apart([*values, *shadows]):
            return
        seen = _arrays(self._slots, values)
        for slot, view in _arrays(self._shadow_slots, shadows):
            for other, taken in seen:
                if taken.overlaps(view):
                    hint = "give every shadow an array of its own"
                    raise ArgumentError(f"{slot.label} shares memory with {other.label}", hint=hint)
            seen.append((slot, view))


def _leads_nowhere(parameter: Parameter, value: Value) -> bool:
    """Whether it is a struct of which no member has a derivative: what a void pointer leads to only members tell."""
    if parameter.shadow_is_pointer or not (value.parts or _points_to_integers(parameter.dtype)):
        return False
    return all(member.parameter.activity == "const" for member in members(parameter))


def _points_to_integers(struct: DataType) -> bool:
    """As an accessor of indices does."""
    behind = [leaf.pointee for leaf in struct.leaves() if leaf.kind == "pointer"]
    return all(kind and all(leaf.kind in {"int", "uint", "bool"} for leaf in kind.leaves()) for kind in behind)


def _arrays(slots: Sequence[Slot], values: Sequence[Value]) -> list[tuple[Slot, ArrayView]]:
    return [array for slot, value in zip(slots, values, strict=True) for array in value.arrays(slot)]


def _addresses(slots: Sequence[Slot], values: Sequence[Value]) -> Iterator[tuple[Parameter, int]]:
    """Where the pointers in structs that are given as a whole lead to."""
    for slot, value in zip(slots, values, strict=True):
        if slot.parameter.form == "struct" and slot.parameter.dtype.has_pointers and not value.parts:
            for member in members(slot.parameter):
                if member.parameter.is_pointer:
                    yield member.parameter, int.from_bytes(value.data[member.offset : member.offset + 8], "little")


def _apart(values: Iterable[Value]) -> bool:
    return apart([part.view for part in parts_of(values) if part.view is not None])
