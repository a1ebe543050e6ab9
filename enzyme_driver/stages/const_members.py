"""Members of structs that lead to arrays without a derivative: `activity={"grid.cells": "const"}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from enzyme_driver.errors import Location, NameNotFoundError, UsageError
from enzyme_driver.model import Activity, DataType, Parameter, Signature, owner


def with_const_members(entry: Signature, parameter: Parameter, activity: Mapping[str, Activity]) -> Parameter:
    """The parameter with those of its members that `activity` names.

    Raises NameNotFoundError for a member that is not there, UsageError for another activity than const.
    """
    asked = {name: word for name, word in activity.items() if name != parameter.name and owner(name) == parameter.name}
    if not asked:
        return parameter
    active = _active_members(parameter)
    for name, word in asked.items():
        known = replace(parameter, const_members=(name.removeprefix(parameter.name),))
        if not any(known.has_const(member) for member, _ in active):
            listed = ", ".join(parameter.name + member for member, _ in active) or "none"
            raise NameNotFoundError(
                f"{name!r} of {entry.name} leads to no array of floating point",
                hint=f"the members that do are {listed}",
                location=Location(entry.file, entry.line),
            )
        if word != "const":
            raise UsageError(
                f"the member {name!r} of {entry.name} cannot be {word}: all that have a derivative are duplicated",
                hint=f"say {name}=const, or leave it out",
                location=Location(entry.file, entry.line),
            )
    return replace(parameter, const_members=tuple(name.removeprefix(parameter.name) for name in asked))


def is_const_throughout(parameter: Parameter) -> bool:
    """Whether all members of floating point are named."""
    return bool(parameter.const_members) and all(parameter.has_const(name) for name, _ in _active_members(parameter))


def said(parameter: Parameter) -> str:
    """The activity as the passes read it, with the offsets of the members that are const: `duplicated@8@24`."""
    offsets = (offset for name, offset in _active_members(parameter) if parameter.has_const(name))
    return parameter.activity + "".join(f"@{offset}" for offset in offsets)


def _active_members(parameter: Parameter) -> tuple[tuple[str, int], ...]:
    """The pointers of a struct that lead to floating point, as `.grid.cells`, with their offsets."""
    return tuple(_pointers(parameter.dtype, "", 0)) if parameter.form == "struct" else ()


def _pointers(dtype: DataType, name: str, offset: int) -> Iterator[tuple[str, int]]:
    if dtype.leads_to_floats:
        yield name, offset
    for field in dtype.fields:
        for index in range(field.count):
            number = f"[{index}]" if field.count > 1 else ""
            place = offset + field.offset + index * field.type.size
            yield from _pointers(field.type, f"{name}.{field.name}{number}", place)
