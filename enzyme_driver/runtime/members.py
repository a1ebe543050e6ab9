"""Structs by value given as dicts of their members: each member is checked and passed as if it were a parameter."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import DataType, Parameter, StructField

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Member:
    """A number or a pointer inside a struct; `parameter` describes it, under a name such as `grid.spacing[2]`."""

    path: Path
    offset: int
    parameter: Parameter


@lru_cache(maxsize=256)
def members(struct: Parameter) -> tuple[Member, ...]:
    """All numbers and pointers of a struct parameter, those of inner structs and arrays too."""
    return tuple(_members(struct, struct.dtype, (), 0))


def _members(struct: Parameter, dtype: DataType, path: Path, base: int) -> Iterator[Member]:
    for field in dtype.fields:
        for index in range(field.count):
            inner: Path = (*path, field.name, *((index,) if field.count > 1 else ()))
            yield from _member(struct, field, inner, base + field.offset + index * field.type.size)


def _member(struct: Parameter, field: StructField, path: Path, offset: int) -> Iterator[Member]:
    if field.type.kind == "struct":
        yield from _members(struct, field.type, path, offset)
        return
    pointee = field.type.pointee
    described = replace(
        struct,
        name=struct.name + spelled_path(path),
        form="pointer" if pointee else "scalar",
        dtype=pointee or field.type,
        const=field.type.const if pointee else True,
        activity="duplicated" if struct.has_shadow and pointee and pointee.has_floats else "const",
        writes=bool(pointee) and not field.type.const,
    )
    yield Member(path, offset, described)


def spelled_path(path: Path) -> str:
    """As in C++, behind the parameter's name: `.grid.spacing[2]`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def flattened(parameter: Parameter, value: object) -> tuple[tuple[Parameter, object], ...]:
    """The parameter with its value; for a struct given as a dict its members with theirs.

    Raises ArgumentError for a member that is missing or that the struct does not have.
    """
    if not is_dict(parameter, value):
        return ((parameter, value),)
    _check_keys(parameter, value)
    return tuple((member.parameter, _found(parameter, value, member.path)) for member in members(parameter))


def given(parameter: Parameter, value: object) -> dict[str, object]:
    """What a dict gives of a struct's members, by their full names: it need not be complete."""
    if not is_dict(parameter, value):
        return {parameter.name: value}
    _check_keys(parameter, value)
    found = ((member.parameter.name, _reached(value, member.path)) for member in members(parameter))
    return {name: item for name, item in found if item is not None}


def assembled(parameter: Parameter, values: Mapping[str, object]) -> object:
    """The inverse of `flattened`: the value, or the dict of those members that have one."""
    if parameter.name in values:
        return values[parameter.name]
    made: dict[str | int, Any] = {}
    for member in members(parameter):
        if member.parameter.name in values:
            place = made
            for step in member.path[:-1]:
                place = place.setdefault(step, {})
            place[member.path[-1]] = values[member.parameter.name]
    return _with_lists(made)


def _with_lists(made: dict[str | int, Any]) -> Any:  # noqa: ANN401
    """Dicts that count from zero, such as those of arrays, as lists."""
    inner = {key: _with_lists(value) if isinstance(value, dict) else value for key, value in made.items()}
    return list(inner.values()) if inner and list(inner) == list(range(len(inner))) else inner


def is_dict(parameter: Parameter, value: object) -> bool:
    return parameter.form == "struct" and isinstance(value, Mapping)


def _found(parameter: Parameter, value: object, path: Path) -> object:
    try:
        for step in path:
            value = value[step]  # type: ignore[index]
    except (KeyError, IndexError, TypeError, ValueError):
        raise ArgumentError(
            f"member {parameter.name}{spelled_path(path)!s} of the struct {parameter.dtype} is missing",
            hint=f"the dict needs {_members_of(parameter.dtype)}; a pointer that is not used may be None",
        ) from None
    return value


def _reached(value: object, path: Path) -> object:
    try:
        for step in path:
            value = value[step]  # type: ignore[index]
    except (KeyError, IndexError, TypeError):
        return None
    return value


def _check_keys(parameter: Parameter, value: object) -> None:
    assert isinstance(value, Mapping)  # noqa: S101  (for the type checker)
    known = [field.name for field in parameter.dtype.fields]
    for key in value:
        if key not in known:
            near = difflib.get_close_matches(str(key), known)
            hint = f"did you mean {' or '.join(near)}?" if near else f"it has {_members_of(parameter.dtype)}"
            raise ArgumentError(f"{parameter.name}: {parameter.dtype} has no member {key!r}", hint=hint)


def _members_of(dtype: DataType) -> str:
    return ", ".join(field.name for field in dtype.fields)
