"""One argument, or one shadow, as the ABI takes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import Target
from enzyme_driver.runtime.backends.tables import table_of
from enzyme_driver.runtime.call.arrays import ArrayView, check_view, cuda_view, host_view
from enzyme_driver.runtime.call.members import Member, assembled, found_members, given, has_parts, is_rows, members, row
from enzyme_driver.runtime.call.packing import pointer_bytes
from enzyme_driver.runtime.call.prepared import Value
from enzyme_driver.runtime.call.results import Unsized
from enzyme_driver.runtime.call.slots import Slot, may_be_written
from enzyme_driver.runtime.call.structs import structured, takes_members
from enzyme_driver.runtime.call.values import is_number, pointers_in, scalar_bytes, struct_bytes

_VIEWS: Mapping[Target, Callable[[object, Slot], ArrayView]] = {"openmp": host_view, "cuda": cuda_view}


def with_array(slot: Slot, value: object) -> object:
    """An array of the one struct whose members a dict gives."""
    if not isinstance(value, Mapping) or not takes_members(slot.parameter):
        return value
    whole = replace(slot, parameter=replace(slot.parameter, form="struct"))
    return np.frombuffer(bytearray(struct_value(value, whole).data), structured(slot.parameter.dtype))


def value_of(slot: Slot, value: object) -> Value:
    """What is given for a parameter, or for a member of one."""
    parameter = slot.parameter
    if parameter.form == "scalar":
        return Value(scalar_bytes(value, slot))
    if parameter.form == "struct":
        return struct_value(value, slot)
    if value is None and parameter.may_be_null:
        return Value(pointer_bytes(0))
    if parameter.reference and parameter.const and slot.target == "openmp" and _is_plain(value):
        return _referenced(value, slot)
    if is_rows(value, parameter):
        return table_value([(_row_slot(slot, number), item) for number, item in enumerate(value)], slot)
    if parameter.is_table and parameter.has_shadow:
        raise slot.wrong(type(value).__name__, "give a list of arrays, one a row")
    return array_value(value, slot)


def _row_slot(slot: Slot, number: int) -> Slot:
    parameter = row(slot.parameter, number)
    return replace(slot, parameter=parameter, writable=slot.writable and may_be_written(parameter))


def table_value(rows: Sequence[tuple[Slot, object]], slot: Slot) -> Value:
    """The address of a table of the rows' addresses, which is made here; a row may be None."""
    parts = tuple((place, value_of(place, item)) for place, item in rows)
    views = [part.view for _, part in parts]
    table = table_of([view.address if view else 0 for view in views], [view for view in views if view], slot.target)
    return Value(pointer_bytes(table.address), keep=table, parts=parts)


def table_shadow(shadow: object, slot: Slot, primal: Value) -> Value:
    """The table of the rows' shadows: one for each row that has one."""
    if not is_rows(shadow, slot.parameter):
        raise slot.wrong(type(shadow).__name__, "give a list of arrays, one a row")
    if len(shadow) > len(primal.parts):
        raise slot.wrong(f"{len(shadow)} of them", f"the table has {len(primal.parts)} rows")
    rows = []
    for number, (_, part) in enumerate(primal.parts):
        place, item = _row_slot(slot, number), shadow[number] if number < len(shadow) else None
        if item is None and not is_null(part):
            raise ArgumentError(f"the {place.label} is missing", hint="make it with zeros_like of the array")
        rows.append((place, item))
    value = table_value(rows, slot)
    for (place, part), (_, own) in zip(value.parts, primal.parts, strict=True):
        check_same_shape(part, own, place)
    return value


def is_null(value: Value) -> bool:
    """Whether it is a null pointer, or nothing but zeros."""
    return value.view is None and not any(value.data)


def _is_plain(value: object) -> bool:
    return not isinstance(value, np.ndarray) and (is_number(value) or isinstance(value, np.void))


def _referenced(value: object, slot: Slot) -> Value:
    convert = struct_bytes if slot.parameter.dtype.kind == "struct" else scalar_bytes
    home = np.frombuffer(bytearray(convert(value, slot)), np.uint8)
    return Value(pointer_bytes(home.ctypes.data), keep=home)


def array_value(value: object, slot: Slot) -> Value:
    """An array as the address of its first element. Raises ArgumentError where it does not fit."""
    view = _VIEWS[slot.target](value, slot)
    check_view(view, slot, value)
    return Value(pointer_bytes(view.address), view, value)


def struct_value(value: object, slot: Slot) -> Value:
    """A struct by value, given as a whole or as a dict of its members."""
    if isinstance(value, Unsized):
        return Value(value.data, keep=value)
    if not has_parts(slot.parameter, value):
        return Value(struct_bytes(value, slot))
    data, parts = bytearray(slot.parameter.dtype.size), []
    for member, item in found_members(slot.parameter, value):
        parameter = member.parameter
        if parameter.is_pointer and item is None:
            continue
        place = replace(slot, parameter=parameter, writable=slot.writable and may_be_written(parameter))
        if slot.parameter.has_shadow and parameter.dtype.has_pointers and not parameter.is_table:
            raise place.wrong(type(item).__name__, "adgen cannot make its shadow: give the struct by its addresses")
        part = value_of(place, np.array(item) if member.copied and isinstance(item, np.ndarray) else item)
        held = _held(member, part)
        data[member.offset : member.offset + len(held)] = held
        parts.append((place, part))
    return Value(bytes(data), parts=tuple(parts))


def _held(member: Member, part: Value) -> bytes:
    """What the struct holds of a member."""
    return member.holding(part.view.address, part.view.nbytes) if part.view else part.data


def struct_shadow(shadow: object, slot: Slot, primal: Value) -> Value:
    """The shadow of a struct that holds pointers, in either form."""
    if has_parts(slot.parameter, shadow):
        return _shadow_of_members(shadow, slot, primal)
    data = struct_bytes(shadow, slot)
    of_arrays, of_shadows = (pointers_in(each, slot.parameter.dtype) for each in (primal.data, data))
    for offset in (member.offset for member in members(slot.parameter) if member.parameter.has_shadow):
        if of_shadows[offset] and of_shadows[offset] == of_arrays[offset]:
            hint = "give the struct's shadow pointers to arrays of its own"
            raise ArgumentError(f"{slot.label} points to the same memory as the argument (byte {offset})", hint=hint)
    return Value(data)


def _shadow_of_members(shadow: object, slot: Slot, primal: Value) -> Value:
    """The struct again, with the shadows' addresses in place of the arrays' and no numbers of floating point."""
    shadows, parts = given(slot.parameter, shadow), []
    primals = {place.parameter.name: part for place, part in primal.parts}
    data = bytearray(primal.data)
    for member in members(slot.parameter):
        parameter = member.parameter
        if parameter.activity == "const":
            if parameter.name in shadows:
                hint = "leave it out: only what the struct points to has a derivative"
                raise ArgumentError(f"shadow {parameter.name!r}: no derivative is taken with respect to it", hint=hint)
            if parameter.is_scalar and parameter.dtype.has_floats:
                data[member.offset : member.offset + parameter.dtype.size] = bytes(parameter.dtype.size)
            continue
        place = replace(slot, parameter=parameter, writable=True)
        item = assembled(parameter, shadows) if parameter.is_table else shadows.get(parameter.name)
        if item is None:
            if int.from_bytes(data[member.offset : member.offset + 8], "little") == 0:
                continue
            raise ArgumentError(f"the {place.label} is missing", hint="make it with zeros_like of the array")
        own = primals.get(parameter.name, Value(b""))
        part = table_shadow(item, place, own) if parameter.is_table else array_value(item, place)
        check_same_shape(part, own, place)
        held = _held(member, part)
        data[member.offset : member.offset + len(held)] = held
        parts.append((place, part))
    return Value(bytes(data), parts=tuple(parts))


def check_same_shape(shadow: Value, primal: Value, slot: Slot) -> None:
    """Raise ArgumentError unless both arrays, where there are two, have one type and one shape."""
    if shadow.view is None or primal.view is None:
        return
    wanted, got = primal.view, shadow.view
    one = wanted.nbytes == got.nbytes == wanted.layout[0]
    if wanted.layout != got.layout or not (one or wanted.shape == got.shape):
        raise ArgumentError(
            f"{slot.label}: expected {wanted.dtype} of shape {wanted.shape} like the array, "
            f"got {got.dtype} of shape {got.shape}",
            hint="make it with zeros_like of the array",
        )
