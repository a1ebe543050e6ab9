"""The arguments of `adgen check`: `x=uniform:f32:1024`, `n=1024`, `table=values.npy`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from enzyme_driver.cli.options import pairs
from enzyme_driver.errors import UsageError
from enzyme_driver.model import DataType, Parameter

Array = np.ndarray[Any, np.dtype[Any]]
Maker = Callable[[np.random.Generator, tuple[int, ...], list[float]], Array]

FORMS = """\b
x=1024 or x=0.5 or x=true        a number
x=FORM:DTYPE:SHAPE[:NUMBERS]     an array; DTYPE is f16, f32, f64, i8..i64, u8..u64 or bool, SHAPE is 1024 or 16x64
    uniform[:LOW:HIGH]           random, by default between 0 and 1
    normal[:MEAN:DEVIATION]      random, by default 0 and 1
    zeros, ones, const:VALUE     all the same
    arange[:START:STEP]          counting, by default 0, 1, 2, ...
x=values.npy                     an array from a file of NumPy's
p.x=0.5                          any of these, for the member x of the struct p
"""

_MOST_NUMBERS = {"uniform": 2, "normal": 2, "zeros": 0, "ones": 0, "const": 1, "arange": 2}
_EXAMPLES = {"float": 0.5, "int": 64, "uint": 64, "bool": "true"}
_LETTERS = {"f": "float", "i": "int", "u": "uint"}


def parse(texts: Iterable[str], seed: int) -> dict[str, object]:
    """The arguments by name; equal seeds give equal arrays. Raises UsageError for a text that is not understood."""
    random = np.random.default_rng(seed)
    return {name: _value(name, text, random) for name, text in pairs("--arg", texts).items()}


def example(parameter: Parameter) -> str:
    """A text that fits the parameter, to begin with."""
    if parameter.form == "struct" and parameter.dtype.fields:
        return " --arg ".join(_members(parameter.name, parameter.dtype))
    leaves = list(parameter.dtype.leaves())
    numbers = {str(leaf) for leaf in leaves if leaf.kind in _EXAMPLES}
    if parameter.is_pointer and len(numbers) == 1 and len(leaves) * leaves[0].size == parameter.dtype.size:
        form = "uniform" if leaves[0].kind == "float" and parameter.reads else "zeros"
        shape = f"{1 if parameter.reference else 1024}{f'x{len(leaves)}' if len(leaves) > 1 else ''}"
        return f"{parameter.name}={form}:{numbers.pop()}:{shape}"
    return f"{parameter.name}={_EXAMPLES.get(parameter.dtype.kind, 'FILE.npy') if parameter.is_scalar else 'FILE.npy'}"


def with_members(given: Mapping[str, object], names: Collection[str]) -> dict[str, object]:
    """Where `p` is one of the names, `p.x` is the member x of a dict for it."""
    made: dict[str, Any] = {}
    for name, value in given.items():
        whole, *path = name.split(".")
        if not path or whole not in names:
            made[name] = value
            continue
        place = made
        for part in (whole, *path[:-1]):
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise UsageError(f"--arg gives {part} and {name}", hint="give the struct as a whole or by its members")
        place[path[-1]] = value
    return made


def _members(name: str, dtype: DataType) -> Iterator[str]:
    for field in dtype.fields:
        inner, member = field.type, f"{name}.{field.name}"
        if inner.kind == "struct":
            yield from _members(member, inner)
        elif inner.kind == "pointer":
            form = "uniform" if inner.pointee and inner.pointee.kind == "float" else "zeros"
            yield f"{member}={form}:{inner.pointee or 'uint8'}:1024"
        elif field.count > 1:
            yield f"{member}=zeros:{inner}:{field.count}"
        else:
            yield f"{member}={_EXAMPLES.get(inner.kind, 'FILE.npy')}"


def _value(name: str, text: str, random: np.random.Generator) -> object:
    if text.endswith(".npy"):
        return _from_file(name, Path(text))
    if text.partition(":")[0] in _MOST_NUMBERS:
        return _array(name, text, random)
    return _number(name, text)


def _number(name: str, text: str) -> bool | int | float:
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise _wrong(name, text, "neither a number nor an array")


def _from_file(name: str, path: Path) -> Array:
    try:
        loaded = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as problem:
        raise UsageError(f"--arg {name}: {path} cannot be read: {problem}", hint="write it with numpy.save") from None
    return np.ascontiguousarray(loaded)


def _array(name: str, text: str, random: np.random.Generator) -> Array:
    form, *rest = text.split(":")
    if len(rest) < 2 or len(rest) > 2 + _MOST_NUMBERS[form]:  # noqa: PLR2004  (dtype and shape)
        raise _wrong(name, text, "not of the form FORM:DTYPE:SHAPE[:NUMBERS]")
    try:
        dtype, shape = _dtype(rest[0]), tuple(int(part) for part in rest[1].split("x"))
        numbers = [float(number) for number in rest[2:]]
        made = _make(form, random, shape, numbers)
    except (ValueError, TypeError) as problem:
        raise _wrong(name, text, f"not an array: {problem}") from None
    return np.ascontiguousarray(made.astype(dtype))


def _dtype(text: str) -> np.dtype[Any]:
    """NumPy's name of a type, or `f32` for `float32`."""
    short = text[:1] in _LETTERS and text[1:].isdigit()
    return np.dtype(f"{_LETTERS[text[0]]}{text[1:]}" if short else text)


def _make(form: str, random: np.random.Generator, shape: tuple[int, ...], numbers: list[float]) -> Array:
    first, second = [*numbers, None, None][:2]
    low, high = first or 0.0, 1.0 if second is None else second
    if form == "uniform":
        return random.uniform(low, high, shape)
    if form == "normal":
        return random.normal(low, high, shape)
    if form == "arange":
        return (low + high * np.arange(np.prod(shape))).reshape(shape)
    if form == "const" and first is None:
        raise ValueError("const needs its value")
    return np.full(shape, {"zeros": 0.0, "ones": 1.0}.get(form, low))


def _wrong(name: str, text: str, why: str) -> UsageError:
    hint = f"write {name}=uniform:f32:1024, {name}=0.5 or {name}=values.npy"
    return UsageError(f"--arg {name}={text} is {why}", hint=hint)
