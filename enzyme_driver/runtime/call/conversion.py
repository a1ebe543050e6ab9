"""One argument, or one shadow, as the ABI takes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import Target
from enzyme_driver.runtime.call.arrays import ArrayView, check_view, cuda_view, host_view
from enzyme_driver.runtime.call.members import Member, flattened, given, has_parts, members
from enzyme_driver.runtime.call.packing import pointer_bytes
from enzyme_driver.runtime.call.prepared import Value
from enzyme_driver.runtime.call.slots import Slot, written
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
    parameter = slot.parameter
    if parameter.form == "scalar":
        return Value(scalar_bytes(value, slot))
    if parameter.form == "struct":
        return struct_value(value, slot)
    if value is None and parameter.may_be_null:
        return Value(pointer_bytes(0))
    if parameter.reference and parameter.const and slot.target == "openmp" and _is_plain(value):
        return _referenced(value, slot)
    return array_value(value, slot)


def is_null(value: Value) -> bool:
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
    if not has_parts(slot.parameter, value):
        return Value(struct_bytes(value, slot))
    data, parts = bytearray(slot.parameter.dtype.size), []
    items = flattened(slot.parameter, value)
    for member, (parameter, item) in zip(members(slot.parameter), items, strict=True):
        if parameter.is_pointer and item is None:
            continue
        place = replace(slot, parameter=parameter, writable=slot.writable and written(parameter))
        if slot.parameter.has_shadow and parameter.dtype.has_pointers:
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
    addresses = pointers_in(primal.data, slot.parameter.dtype)
    for offset, address in pointers_in(data, slot.parameter.dtype).items():
        if address and address == addresses[offset]:
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
        if parameter.name not in shadows:
            if int.from_bytes(data[member.offset : member.offset + 8], "little") == 0:
                continue
            raise ArgumentError(f"the {place.label} is missing", hint="make it with zeros_like of the array")
        part = array_value(shadows[parameter.name], place)
        check_same_shape(part, primals.get(parameter.name, Value(b"")), place)
        held = _held(member, part)
        data[member.offset : member.offset + len(held)] = held
        parts.append((place, part))
    return Value(bytes(data), parts=tuple(parts))


def check_same_shape(shadow: Value, primal: Value, slot: Slot) -> None:
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
