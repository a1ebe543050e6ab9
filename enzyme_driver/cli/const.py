"""What each gradient on a GPU would save if one of its parameters were const, for `adgen inspect --const`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enzyme_driver import artifact, cache
from enzyme_driver.artifact import Artifact
from enzyme_driver.cli import options
from enzyme_driver.cli.figures import Figures, figures
from enzyme_driver.errors import AdgenError, UsageError
from enzyme_driver.model import Entry, Signature, plain_name
from enzyme_driver.runtime.transforms.narrower import left_out

if TYPE_CHECKING:
    from rich.table import Table

AS_IT_IS = "as it is"
_TITLES = {"additions": "atomic additions", "local": "on local memory"}


@dataclass(frozen=True)
class Row:
    """A gradient in which the parameter of that name is const, or as it is, or why there is none."""

    parameter: str
    figures: Figures | None
    refused: str = ""


def rows(what: str, made: Artifact, values: Mapping[str, Any]) -> dict[str, list[Row]]:
    """By the name of the entry; those of which no parameter can be const are left out."""
    if Path(what).is_dir():
        raise UsageError("an artifact is compiled already, --const cannot change it", hint="give the source file")
    if "cuda" not in made.targets:
        raise UsageError("--const says what code for a GPU would save", hint="give a CUDA file, with target cuda")
    wanted = {plain_name(name) for name in values["names"]}
    return {
        entry.signature.name: [Row(AS_IT_IS, _figures(made, entry)), *_without(what, entry.signature, values)]
        for entry in made.entries
        if (not wanted or plain_name(entry.signature.name) in wanted)
        and entry.targets["cuda"].gradient
        and candidates(entry.signature)
    }


def candidates(signature: Signature) -> tuple[str, ...]:
    """The parameters that are only read and have a derivative: those of what is written are cotangents."""
    names = [parameter.name for parameter in signature.shadowed]
    lone = [left_out(signature, [other for other in names if other != name]) for name in names]
    return tuple(dict.fromkeys(name for left in lone for name in left))


def _without(what: str, signature: Signature, values: Mapping[str, Any]) -> Iterator[Row]:
    for name in candidates(signature):
        activity = (*(each for each in values["activity"] if not each.startswith(f"{name}=")), f"{name}=const")
        asked = {**values, "names": (signature.name,), "targets": ("cuda",), "activity": activity}
        request, settings = options.make_request(what, asked), options.make_settings(values)
        try:
            made = artifact.read(cache.build(request, settings=settings, use_cache=not values["no_cache"]))
            yield Row(name, _figures(made, made.entries[0]))
        except AdgenError as problem:
            yield Row(name, None, problem.reason)


def _figures(made: Artifact, entry: Entry) -> Figures:
    arch, target = made.archs[0], entry.targets["cuda"]
    tape = target.tape is not None
    return figures(str(target.gradient), made.ptx(arch).decode(), made.cubin(arch), tape=tape)


def as_data(found: Mapping[str, list[Row]]) -> dict[str, Any]:
    return {name: [asdict(row) for row in rows] for name, rows in found.items()}


def table(name: str, found: list[Row]) -> Table:
    from rich.table import Table

    made = Table(title=f"{name}: the gradient on a GPU with one parameter const", title_justify="left")
    for column in ("const", *(_TITLES.get(each.name, each.name) for each in fields(Figures))):
        made.add_column(column)
    for row in found:
        if row.figures:
            made.add_row(row.parameter, *map(_shown, asdict(row.figures).values()))
        else:
            made.add_row(row.parameter, f"refused: {row.refused}")
    return made


def _shown(value: int | bool) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
