"""Structs given as dicts of their members: each member is checked and passed as if it were a parameter.

A table of pointers is given as the list of the arrays that they lead to, its rows.
A `std::vector`, a `std::span` or a `cuda::std::span` is given as an array, be it a parameter or a member.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeGuard

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import DataType, Parameter, StructField
from enzyme_driver.runtime.call.packing import pointer_bytes

Path = tuple[str | int, ...]

Holder = Literal["pointer", "vector", "span"]
"""How a struct holds an array: by its address, its begin and its end (twice), or its address and its length."""

_HOLDERS: dict[tuple[str, ...], Holder] = {
    ("_M_start", "_M_finish", "_M_end_of_storage"): "vector",
    ("_M_ptr", "_M_extent_value"): "span",
    ("__data_", "__size_"): "span",
}
"""By the members that libstdc++ gives them, and CUDA's own library (`cuda::std::span`)."""


@dataclass(frozen=True)
class Member:
    """A number or an array inside a struct; `parameter` describes it, under a name such as `grid.spacing[2]`."""

    path: Path
    offset: int
    parameter: Parameter
    holder: Holder = "pointer"
    count: int = 1  # of the numbers in the array that it is one of

    @property
    def copied(self) -> bool:
        """Whether the function gets an array of its own: a vector in a struct by value."""
        return self.holder == "vector" and not self.parameter.by_address

    def holding(self, address: int, size: int) -> bytes:
        """What the struct holds of an array of that many bytes."""
        if self.holder == "vector":
            return pointer_bytes(address) + 2 * pointer_bytes(address + size)
        length = (size // self.parameter.dtype.size).to_bytes(8, "little") if self.holder == "span" else b""
        return pointer_bytes(address) + length


@lru_cache(maxsize=256)
def members(struct: Parameter) -> tuple[Member, ...]:
    """All numbers and arrays of a struct parameter, those of inner structs and arrays too."""
    return tuple(_of_struct(struct, struct.dtype, (), 0))


def _of_struct(struct: Parameter, dtype: DataType, path: Path, offset: int) -> Iterator[Member]:
    holder = _holder(dtype)
    if holder is None:
        yield from _members(struct, dtype, path, offset)
    else:
        _, first = next(_scalars(dtype))
        described = _described(struct, first, path, offset)
        if holder == "vector":
            described = replace(described, const=struct.const, writes=not struct.const)
        yield Member(path, offset, described, holder)


@lru_cache(maxsize=256)
def _holder(dtype: DataType) -> Holder | None:
    """What a struct is that only holds an array, or None."""
    found = _HOLDERS.get(tuple(name for name, _ in _scalars(dtype)))
    return found if found and dtype.name.startswith(f"{found}<") else None


def _scalars(dtype: DataType) -> Iterator[tuple[str, DataType]]:
    for field in dtype.fields:
        if field.type.kind == "struct":
            yield from _scalars(field.type)
        else:
            yield field.name, field.type


def _members(struct: Parameter, dtype: DataType, path: Path, base: int) -> Iterator[Member]:
    for field in dtype.fields:
        for index in range(field.count):
            inner: Path = (*path, field.name, *((index,) if field.count > 1 else ()))
            yield from _member(struct, field, inner, base + field.offset + index * field.type.size)


def _member(struct: Parameter, field: StructField, path: Path, offset: int) -> Iterator[Member]:
    if field.type.kind == "struct":
        yield from _of_struct(struct, field.type, path, offset)
        return
    yield Member(path, offset, _described(struct, field.type, path, offset), count=field.count)


def _described(struct: Parameter, dtype: DataType, path: Path, offset: int) -> Parameter:
    pointee, spelled = dtype.pointee, spelled_path(path)
    active = struct.has_shadow and dtype.leads_to_floats and not struct.has_const(spelled)
    return replace(
        struct,
        name=struct.name + spelled,
        form="pointer" if pointee else "scalar",
        dtype=pointee or dtype,
        const=dtype.const if pointee else True,
        activity="duplicated" if active else "const",
        chosen=offset in struct.chosen_members,
        chosen_members=(),
        const_members=(),
        reference=False,
        writes=bool(pointee) and not dtype.const,
    )


def row(table: Parameter, number: int) -> Parameter:
    """The array that a pointer in a table leads to, as a parameter of its own: `rows[3]`."""
    kind = table.dtype
    pointee = kind.pointee or kind
    active = table.has_shadow and pointee.has_floats
    return replace(
        table,
        name=f"{table.name}[{number}]",
        dtype=pointee,
        const=kind.const,
        activity="duplicated" if active else "const",
        restrict=False,
        writes=not kind.const,
        nullable=True,
    )


def is_rows(value: object, parameter: Parameter) -> TypeGuard[Sequence[object]]:
    """Whether the value gives a table by its rows."""
    return parameter.is_table and isinstance(value, (list, tuple))


def spelled_path(path: Path) -> str:
    """As in C++, behind the parameter's name: `.grid.spacing[2]`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def flattened(parameter: Parameter, value: object) -> tuple[tuple[Parameter, object], ...]:
    """The parameter with its value; for a struct given by its members, and for a table, these with theirs.

    Raises ArgumentError for a member that is missing or that the struct does not have.
    """
    if is_rows(value, parameter):
        return tuple((row(parameter, number), item) for number, item in enumerate(value))
    if not has_parts(parameter, value):
        return ((parameter, value),)
    found = found_members(parameter, value)
    return tuple(part for member, item in found for part in flattened(member.parameter, item))


def found_members(struct: Parameter, value: object) -> tuple[tuple[Member, object], ...]:
    """The members of a struct that has parts, with what is given for each. Raises ArgumentError as `flattened` does."""
    _check_keys(struct, value)
    return tuple((member, _found(struct, value, member)) for member in members(struct))


def given(parameter: Parameter, value: object) -> dict[str, object]:
    """What a dict gives of a struct's members, and a list of a table's rows, by their full names: not of all."""
    if is_rows(value, parameter):
        return {row(parameter, number).name: item for number, item in enumerate(value) if item is not None}
    if not has_parts(parameter, value):
        return {parameter.name: value}
    _check_keys(parameter, value)
    found = ((member.parameter, _reached(value, member)) for member in members(parameter))
    return {name: part for each, item in found if item is not None for name, part in given(each, item).items()}


def assembled(parameter: Parameter, values: Mapping[str, object]) -> object:
    """The inverse of `flattened`: the value, the list of rows, or the dict of those members that have one."""
    if parameter.name in values:
        return values[parameter.name]
    if parameter.is_table:
        return _rows(parameter.name, values)
    made: dict[str | int, Any] = {}
    for member in members(parameter):
        if member.parameter.name in values or member.parameter.is_table:
            place = made
            for step in member.path[:-1]:
                place = place.setdefault(step, {})
            place[member.path[-1]] = assembled(member.parameter, values)
    return _with_lists(made)


def with_numbers(parameter: Parameter, value: object, shadow: object) -> object:
    """The shadow of a struct given by its members, with all that a struct needs: integers are the value's, numbers of
    floating point zero, and pointers without a shadow lead nowhere.
    """
    if not has_parts(parameter, value) or not isinstance(value, Mapping):
        return shadow
    shadows: dict[str, object] = given(parameter, shadow)
    for member, item in found_members(parameter, value):
        part = member.parameter
        if not part.is_scalar:
            shadows.setdefault(part.name, None)
        else:
            shadows[part.name] = 0.0 if part.dtype.has_floats else item
    return assembled(parameter, shadows)


def _rows(table: str, values: Mapping[str, object]) -> list[object]:
    """Those of the table that have a value, in order; None where one before them has none."""
    begin = f"{table}["
    found = {int(name[len(begin) : -1]): value for name, value in values.items() if name.startswith(begin)}
    return [found.get(number) for number in range(max(found, default=-1) + 1)]


def _with_lists(made: dict[str | int, Any]) -> Any:  # noqa: ANN401
    """Dicts that count from zero, such as those of arrays, as lists."""
    inner = {key: _with_lists(value) if isinstance(value, dict) else value for key, value in made.items()}
    return list(inner.values()) if inner and list(inner) == list(range(len(inner))) else inner


def has_parts(parameter: Parameter, value: object) -> bool:
    """Whether the value gives a struct by its members: as a dict, or as the one array that it holds."""
    if parameter.form != "struct":
        return False
    return isinstance(value, Mapping) or (_holder(parameter.dtype) is not None and getattr(value, "ndim", 0) > 0)


def _found(parameter: Parameter, value: object, member: Member) -> object:
    try:
        return _step(value, member)
    except ArgumentError:
        raise
    except (KeyError, IndexError, TypeError, ValueError):
        raise ArgumentError(
            f"member {parameter.name}{spelled_path(member.path)!s} of the struct {parameter.dtype} is missing",
            hint=f"the dict needs {_members_of(parameter.dtype)}; a pointer that is not used may be None",
        ) from None


def _reached(value: object, member: Member) -> object:
    if not member.path and isinstance(value, Mapping):  # the shadow of a vector of integers: nothing
        return None
    try:
        return _step(value, member)
    except (KeyError, IndexError, TypeError):
        return None


def _step(value: Any, member: Member) -> object:  # noqa: ANN401  (whatever stands for a struct)
    last = len(member.path) - 1
    for i, step in enumerate(member.path):
        if i == last and isinstance(step, int) and member.parameter.form == "scalar":
            value = _in_a_row(value, member)
        value = value[step]
    return value


def _in_a_row(value: Any, member: Member) -> Any:  # noqa: ANN401  (an array or a sequence of any depth)
    """The numbers of an array that may be given as a matrix; some of them in a dict."""
    if isinstance(value, Mapping):
        return value
    row = value.reshape(-1) if getattr(value, "ndim", 1) > 1 else value
    while len(row) and isinstance(row[0], (list, tuple)):
        row = [item for part in row for item in part]
    if len(row) != member.count:
        name = member.parameter.name.rpartition("[")[0]
        raise ArgumentError(f"{name}: {len(row)} numbers are given, it holds {member.count}", hint="give them all")
    return row


def _check_keys(parameter: Parameter, value: object) -> None:
    if not isinstance(value, Mapping):
        return
    known = [field.name for field in parameter.dtype.fields]
    for key in value:
        if key not in known:
            near = difflib.get_close_matches(str(key), known)
            hint = f"did you mean {' or '.join(near)}?" if near else f"it has {_members_of(parameter.dtype)}"
            raise ArgumentError(f"{parameter.name}: {parameter.dtype} has no member {key!r}", hint=hint)


def _members_of(dtype: DataType) -> str:
    return ", ".join(field.name for field in dtype.fields)
