"""What the user wrote: the kernels and functions of a module with their parameters' names and types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from enzyme_driver import pipelines
from enzyme_driver.errors import SourceError
from enzyme_driver.model import DataType, Form, Parameter, ScalarKind, Signature, StructField, Variable
from enzyme_driver.stages.frontend import PrimalIR
from enzyme_driver.stages.source import Source
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.toolchain import Toolchain

_PACKED = {
    **dict.fromkeys(("__half", "__half_raw"), "float16"),
    **dict.fromkeys(("__nv_bfloat16", "__nv_bfloat16_raw"), "bfloat16"),
}
"""Structs of CUDA's headers whose integer member holds a number of floating point."""

_NUMPY = {"float": "float", "int": "int", "uint": "uint"}


@dataclass(frozen=True)
class Description:
    """All entries that a module offers, in the order of the file; activities are not decided yet (all const).

    `local` holds the symbols of what is compiled only when it is asked for by name: static functions, members of
    classes, and kernels that libraries such as Thrust bring along. `undefined` says of entries, by symbol, what they
    call that is nowhere defined, and in which line; `unread` why that is so, by names of functions.
    """

    entries: tuple[Signature, ...]
    local: frozenset[str] = frozenset()
    variables: tuple[Variable, ...] = ()
    undefined: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    unread: Mapping[str, SourceError] = field(default_factory=dict)

    @property
    def offered(self) -> tuple[Signature, ...]:
        """What is compiled where no names are given."""
        return tuple(entry for entry in self.entries if entry.symbol not in self.local)


def describe(primal: PrimalIR, source: Source, workspace: Workspace, *, instances: tuple[str, ...] = ()) -> Description:
    """Read the signatures from the debug information that clang made of its syntax tree.

    `instances` are the names that the primal was made with; an instance is called as it was asked for.
    """
    done = workspace.opt(pipelines.DESCRIBE, primal.path, None)
    found = json.loads(done.stdout)
    asked = {symbol: instances[int(number)] for number, symbol in found["instances"].items()}
    entries = [{**data, "name": asked.get(data["symbol"], data["name"])} for data in found["entries"]]
    wanted = [_entry(data) for data in entries if data["symbol"] in asked or _is_entry(data, primal, source)]
    local = frozenset(data["symbol"] for data in entries if _is_local(data, workspace.toolchain))
    own = [data for data in found["variables"] if not workspace.toolchain.is_of_library(_path(data))]
    return Description(
        tuple(sorted(wanted, key=lambda entry: (entry.file != str(source.path), entry.line))),
        local,
        tuple(_variable(data) for data in own),
        {data["symbol"]: (at["name"], at["line"]) for data in entries if (at := data.get("undefined"))},
        {each.name: each.error for each in primal.unread if not each.kernel},
    )


def _is_entry(data: dict[str, Any], primal: PrimalIR, source: Source) -> bool:
    if primal.language == "cuda":
        return bool(data["kernel"])
    return data["name"] != "main" and _path(data) == source.path


def _is_local(data: dict[str, Any], tools: Toolchain) -> bool:
    if not data["kernel"]:
        return bool(data["local"])
    return tools.is_of_library(_path(data))


def _path(data: dict[str, Any]) -> Path:
    return Path(str(data["directory"]), str(data["file"]))


def _entry(data: dict[str, Any]) -> Signature:
    returned = data["returns"]
    return Signature(
        name=data["name"],
        kind="kernel" if data["kernel"] else "function",
        symbol=data["symbol"],
        parameters=tuple(_parameter(item) for item in data["parameters"]),
        returns=None if returned["kind"] == "void" else _type(returned),
        file=str(_path(data)),
        line=data["line"],
        needs_shared_bytes=data["dynamic_shared"],
    )


def _variable(data: dict[str, Any]) -> Variable:
    return Variable(data["name"], data["symbol"], _type(data["type"]), tuple(data["shape"]))


def _parameter(data: dict[str, Any]) -> Parameter:
    declared = data["type"]
    if declared["kind"] == "pointer":
        return Parameter(
            name=data["name"],
            form="pointer",
            dtype=_type(declared["pointee"]),
            const=declared["const"],
            activity="const",
            restrict=declared["restrict"],
            reference=declared["reference"],
            writes=not declared["const"],
        )
    dtype = _type(declared)
    form: Form = "struct" if dtype.kind in {"struct", "opaque"} else "scalar"
    by_address = data["by_address"]
    return Parameter(
        name=data["name"],
        form=form,
        dtype=dtype,
        const=data["const"] or not by_address,
        activity="const",
        reference=data["reference"],
        writes=by_address and not data["const"],
        by_address=by_address,
    )


def _type(data: dict[str, Any]) -> DataType:
    kind: str = data["kind"]
    size: int = data["size"]
    if kind == "struct" and data["name"] in _PACKED:
        return DataType(_PACKED[data["name"]], "float", size)
    if kind == "struct":
        return DataType(data["name"], "struct", size, tuple(_field(member) for member in data["members"]))
    if kind == "pointer":
        pointee = _type(data["pointee"]) if "pointee" in data else None
        return DataType("pointer", "pointer", size, pointee=pointee, const=data["const"])
    return _scalar(kind, data["name"], size)


@cache
def _scalar(kind: str, name: str, size: int) -> DataType:
    if kind in _NUMPY and size in {1, 2, 4, 8}:
        known: ScalarKind = "float" if kind == "float" else "int" if kind == "int" else "uint"
        return DataType(f"{_NUMPY[kind]}{8 * size}", known, size)
    return DataType("bool", "bool", size) if kind == "bool" else DataType(name or kind, "opaque", size)


def _field(data: dict[str, Any]) -> StructField:
    return StructField(data["name"], data["offset"], _type(data["type"]), data["count"])
