"""Text for other tools and languages: the C header, the Python module, the translation unit that asks for instances.

Every decision is made here and ends in a frozen value; the templates only loop over it.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_driver import resources
from enzyme_driver.model import Entry, Language, Parameter, Refusal, Signature, TargetEntry
from enzyme_driver.stages.c_types import CTypes, c_identifier, comment_text, unique
from enzyme_driver.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment, Template

INSTANCE = "adgen_instance_"
"""Prefix of the variables through which the wrapper refers to what the user asked for."""

_OWN_C_NAMES = ("grid", "block", "shared_bytes", "result", "cotangent", "tangent", "adgen_args", "adgen_sizes")
_OWN_PYTHON_NAMES = ("Path", "enzyme_driver", "load")


def header_name(stem: str) -> str:
    return f"{c_identifier(stem)}.h"


def module_name(stem: str) -> str:
    """The name under which Python imports the artifact's module; its file is this and `.py`."""
    return python_identifier(stem)


def library_name(stem: str) -> str:
    """With `lib` in front, else `import <stem>` would take the library for an extension module."""
    return f"lib{c_identifier(stem)}.so"


def instances(language: Language, path: Path | None, names: Sequence[str], *, c: bool = False) -> str:
    """A translation unit that includes a file, if a path is given, and makes clang emit each named entry.

    The address of a template's instance instantiates it, that of a static or inline function keeps it;
    variable `adgen_instance_<i>` refers to `names[i]`.
    """
    space = "__device__ " if language == "cuda" else ""  # on the device only such variables are emitted
    deduced = "__auto_type" if c else "auto"
    return _template("instances.cpp.j2").render(
        path=path and str(path), prefix=INSTANCE, names=names, space=space, deduced=deduced
    )


@dataclass(frozen=True)
class CFunction:
    """A typed wrapper of the C header: `arguments[i]` is the address handed over in place i."""

    name: str
    symbol: str
    about: str
    parameters: tuple[str, ...]
    arguments: tuple[str, ...]
    launched: bool
    result: str = "NULL"


@dataclass(frozen=True)
class Missing:
    """A wrapper that the header lacks, and why."""

    name: str
    reason: str


def header(stem: str, source: str, entries: Iterable[Entry]) -> str:
    """The C header (C99 and C++) for the host library made from file `source`.

    Every entry gives `int NAME_primal(...)` and `int NAME_gradient(...)`, with forward mode `int NAME_tangent(...)`;
    all return 0, or 1 when the user's code threw, and then `adgen_last_error()` says what.
    """
    types = CTypes(c_identifier(stem))
    functions: list[CFunction] = []
    missing: list[Missing] = []
    for name, entry, made in _host_entries(entries):
        functions += [*_primal(types, name, entry.signature, made), *_gradient(types, name, entry.signature, made)]
        functions += _tangent(types, name, entry)
        missing += _missing(name, entry.signature, made)
    return _template("header.h.j2").render(
        guard=f"ADGEN_{c_identifier(stem).upper()}_H",
        version=__version__,
        source=comment_text(source),
        structs=types.structs,
        functions=functions,
        missing=missing,
    )


def _host_entries(entries: Iterable[Entry]) -> list[tuple[str, Entry, TargetEntry]]:
    built = [(entry, entry.targets["openmp"]) for entry in entries if "openmp" in entry.targets]
    names = unique(c_identifier(entry.signature.name) for entry, _ in built)
    return [(name, entry, made) for name, (entry, made) in zip(names, built, strict=True)]


def _primal(types: CTypes, name: str, signature: Signature, made: TargetEntry) -> list[CFunction]:
    if made.primal is None:
        return []
    values = _values(types, signature)
    result = [f"{types.value(signature.returns)} *result"] if signature.returns else []
    return [
        CFunction(
            name=f"{name}_primal",
            symbol=made.primal,
            about=comment_text(str(signature)),
            parameters=(*_launch(signature), *(value.declaration for value in values), *result),
            arguments=tuple(value.address for value in values),
            launched=signature.kind == "kernel",
            result="result" if result else "NULL",
        )
    ]


def _gradient(types: CTypes, name: str, signature: Signature, made: TargetEntry) -> list[CFunction]:
    if made.gradient is None or signature.chooses or signature.unordered:
        return []
    values = _values(types, signature, shadows=True)
    if signature.returns:
        values = (*values, CValue(f"{types.value(signature.returns)} cotangent", "(void *)&cotangent"))
    return [
        CFunction(
            name=f"{name}_gradient",
            symbol=made.gradient,
            about="Adds to the shadows of what the primal reads; the shadow of what it overwrites is consumed.",
            parameters=(*_launch(signature), *(value.declaration for value in values)),
            arguments=tuple(value.address for value in values),
            launched=signature.kind == "kernel",
        )
    ]


def _tangent(types: CTypes, name: str, entry: Entry) -> list[CFunction]:
    signature, made = entry.signature.forward, entry.forward.get("openmp")
    if made is None or made.gradient is None or signature.chooses or signature.unordered:
        return []
    values = _values(types, signature, shadows=True)
    result = [f"{types.value(signature.returns)} *tangent"] if signature.returns else []
    return [
        CFunction(
            name=f"{name}_tangent",
            symbol=made.gradient,
            about="Carries tangents: from those of what the primal reads to those of what it writes and returns.",
            parameters=(*_launch(signature), *(value.declaration for value in values), *result),
            arguments=tuple(value.address for value in values),
            launched=signature.kind == "kernel",
            result="tangent" if result else "NULL",
        )
    ]


def _missing(name: str, signature: Signature, made: TargetEntry) -> list[Missing]:
    pairs = ((f"{name}_primal", made.primal_refused), (f"{name}_gradient", made.gradient_refused))
    found = [Missing(what, comment_text(_refusal_text(refusal))) for what, refusal in pairs if refusal]
    if signature.chooses and made.gradient:
        reason = "atomics choose which value remains, so that it has to run twice, as adgen does from Python"
        found.append(Missing(f"{name}_gradient", reason))
    if signature.unordered and made.gradient:
        reason = "threads store in the order of their arrival, so that cotangents have to be looked at, as from Python"
        found.append(Missing(f"{name}_gradient", reason))
    return found


def _refusal_text(refusal: Refusal) -> str:
    return f"{refusal.file}:{refusal.line}: {refusal.reason}" if refusal.file else refusal.reason


def _launch(signature: Signature) -> tuple[str, ...]:
    return ("adgen_dim3 grid", "adgen_dim3 block", "size_t shared_bytes") if signature.kind == "kernel" else ()


@dataclass(frozen=True)
class CValue:
    """A parameter of a wrapper, and the address that the binary interface wants for it."""

    declaration: str
    address: str


def _values(types: CTypes, signature: Signature, *, shadows: bool = False) -> tuple[CValue, ...]:
    """The primal's parameters, followed by the shadows."""
    shadowed = signature.shadowed if shadows else ()
    written = [f"d_{parameter.name}" for parameter in shadowed]
    names = unique((c_identifier(name) for name in (*signature.names, *written)), taken=_OWN_C_NAMES)
    count = len(signature.parameters)
    primal = [_value(types, name, p) for name, p in zip(names, signature.parameters, strict=False)]
    return (*primal, *(_shadow(types, name, p) for name, p in zip(names[count:], shadowed, strict=True)))


def _value(types: CTypes, name: str, parameter: Parameter) -> CValue:
    if parameter.is_pointer:
        return CValue(types.pointer(parameter.dtype, name, const=parameter.const), f"(void *)&{name}")
    return _by_value(types, name, parameter)


def _shadow(types: CTypes, name: str, parameter: Parameter) -> CValue:
    if parameter.shadow_is_pointer:
        return CValue(types.pointer(parameter.dtype, name), f"(void *)&{name}")
    return _by_value(types, name, parameter)


def _by_value(types: CTypes, name: str, parameter: Parameter) -> CValue:
    """What C has no type for comes as the address of the value's bytes."""
    if types.expressible(parameter.dtype):
        return CValue(f"{types.value(parameter.dtype)} {name}", f"(void *)&{name}")
    return CValue(f"const void *{name}", f"(void *){name}")


@dataclass(frozen=True)
class PythonEntry:
    """An attribute of the generated module."""

    name: str
    entry: str
    about: str


def python_module(stem: str, source: str, entries: Iterable[Entry]) -> str:
    """The module that lies in the artifact and loads it: one attribute an entry."""
    listed = list(entries)
    names = unique((python_identifier(entry.signature.name) for entry in listed), taken=_OWN_PYTHON_NAMES)
    attributes = [
        PythonEntry(name, repr(entry.signature.name), docstring_text(str(entry.signature)))
        for name, entry in zip(names, listed, strict=True)
    ]
    return _template("module.py.j2").render(
        stem=module_name(stem), source=docstring_text(source), version=__version__, attributes=attributes
    )


def python_identifier(name: str) -> str:
    text = c_identifier(name)
    return f"{text}_" if keyword.iskeyword(text) else text


def docstring_text(text: str) -> str:
    """Text that can stand in a docstring: on one line, without what would end it."""
    return re.sub(r"\s+", " ", text).replace("\\", "/").replace('"', "'")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(resources.templates()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - C and Python are written, not HTML
    )


def _template(name: str) -> Template:
    return _environment().get_template(name)
