"""Plain JSON data back into frozen dataclasses, checked by their annotations."""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
Convert = Callable[[Any, object, str], object]


class DecodeError(ValueError):
    """The data does not have the shape of the type; the message names the place in the data."""


def decode(kind: type[T], data: object, where: str = "$") -> T:
    """An instance of the dataclass `kind` from `dataclasses.asdict` data that went through JSON."""
    if not isinstance(data, dict):
        raise DecodeError(f"{where}: expected an object, got {_spelled(data)}")
    known = _fields(cast("Hashable", kind))
    unknown = sorted(str(name) for name in data.keys() - known.keys())
    if unknown:
        raise DecodeError(f"{where}: unknown key {unknown[0]!r}")
    values = {}
    for name, (member, annotation) in known.items():
        if name in data:
            values[name] = _value(annotation, data[name], f"{where}.{name}")
        elif member.default is MISSING and member.default_factory is MISSING:
            raise DecodeError(f"{where}: key {name!r} is missing")
    return kind(**values)


@cache
def _fields(kind: Any) -> dict[str, tuple[Field[Any], Any]]:  # noqa: ANN401
    hints = get_type_hints(kind)
    members = fields(kind) if is_dataclass(kind) else ()
    return {member.name: (member, hints[member.name]) for member in members}


def _value(annotation: Any, data: object, where: str) -> object:  # noqa: ANN401  (annotations are values here)
    if is_dataclass(annotation) and isinstance(annotation, type):
        return decode(annotation, data, where)
    convert: Convert = _COMPOSED.get(get_origin(annotation), _plain)
    return convert(annotation, data, where)


def _plain(annotation: Any, data: object, where: str) -> object:  # noqa: ANN401
    if type(data) is not annotation:
        raise DecodeError(f"{where}: expected {_WORDS.get(annotation, annotation)}, got {_spelled(data)}")
    return data


def _choice(annotation: Any, data: object, where: str) -> object:  # noqa: ANN401
    if not isinstance(data, str) or data not in get_args(annotation):
        raise DecodeError(f"{where}: expected one of {', '.join(get_args(annotation))}, got {_spelled(data)}")
    return data


def _optional(annotation: Any, data: object, where: str) -> object:  # noqa: ANN401
    inner = [part for part in get_args(annotation) if part is not type(None)]
    return None if data is None else _value(inner[0], data, where)


def _sequence(annotation: Any, data: object, where: str) -> tuple[object, ...]:  # noqa: ANN401
    if not isinstance(data, list):
        raise DecodeError(f"{where}: expected a list, got {_spelled(data)}")
    inner = get_args(annotation)[0]
    return tuple(_value(inner, item, f"{where}[{index}]") for index, item in enumerate(data))


def _mapping(annotation: Any, data: object, where: str) -> dict[object, object]:  # noqa: ANN401
    if not isinstance(data, dict):
        raise DecodeError(f"{where}: expected an object, got {_spelled(data)}")
    key, inner = get_args(annotation)
    return {_value(key, k, f"{where} (key)"): _value(inner, item, f"{where}.{k}") for k, item in data.items()}


_COMPOSED: Mapping[Any, Convert] = {
    Literal: _choice,
    Union: _optional,
    types.UnionType: _optional,
    tuple: _sequence,
    dict: _mapping,
}
_WORDS = {str: "a text", int: "a whole number", bool: "true or false"}


def _spelled(data: object) -> str:
    text = repr(data)
    return text if len(text) <= 40 else f"{text[:40]}..."  # noqa: PLR2004  (enough to recognise it)
