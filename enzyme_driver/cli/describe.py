"""An artifact for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from enzyme_driver.artifact import Artifact
from enzyme_driver.model import Entry, Parameter, Refusal, Target, TargetEntry

if TYPE_CHECKING:
    from rich.table import Table


def as_data(artifact: Artifact) -> dict[str, Any]:
    """Everything that the artifact says about itself, as plain data."""
    manifest = artifact.manifest
    return {
        "artifact": str(artifact.folder),
        "adgen": manifest.adgen,
        "source": asdict(manifest.source),
        "options": asdict(manifest.options),
        "targets": list(artifact.targets),
        "archs": list(artifact.archs),
        "binaries": asdict(manifest.binaries),
        "entries": [_entry_data(entry) for entry in artifact.entries],
    }


def _entry_data(entry: Entry) -> dict[str, Any]:
    signature = entry.signature
    return {
        "name": signature.name,
        "kind": signature.kind,
        "signature": str(signature),
        "returns": str(signature.returns) if signature.returns else None,
        "file": signature.file,
        "line": signature.line,
        "parameters": [_parameter_data(parameter) for parameter in signature],
        "targets": {target: asdict(made) for target, made in entry.targets.items()},
        "forward": {target: asdict(made) for target, made in entry.forward.items()},
        "second": {target: asdict(made) for target, made in entry.second.items()},
    }


def _parameter_data(parameter: Parameter) -> dict[str, Any]:
    return {**asdict(parameter), "dtype": str(parameter.dtype), "shadow": parameter.has_shadow}


def lines(artifact: Artifact) -> Iterator[str]:
    """The short form: every entry, and what it has on each target."""
    yield str(artifact.folder)
    for entry in artifact.entries:
        yield f"  {entry.signature}"
        for target, made in entry.targets.items():
            yield f"    {target + ':':8} {_what(made, entry.forward.get(target), entry.second.get(target))}"


def _what(made: TargetEntry, forward: TargetEntry | None, second: TargetEntry | None) -> str:
    found = {
        "primal": made.primal,
        "gradient": made.gradient,
        "tangent": forward and forward.gradient,
        "second derivative": second and second.gradient,
    }
    return ", ".join(name for name, symbol in found.items() if symbol) or "refused"


def refusals(artifact: Artifact) -> list[tuple[Entry, str, str, Refusal]]:
    """What is missing in the artifact: the entry, the targets, what of the entry, and why; once where targets agree."""
    found: dict[tuple[str, str, Refusal], tuple[Entry, list[Target]]] = {}
    for entry, target, what, why in _refusals(artifact):
        found.setdefault((entry.signature.symbol, what, why), (entry, []))[1].append(target)
    return [(entry, " and ".join(on), what, why) for (_, what, why), (entry, on) in found.items()]


def _refusals(artifact: Artifact) -> Iterator[tuple[Entry, Target, str, Refusal]]:
    for entry in artifact.entries:
        for target, made in entry.targets.items():
            if made.primal_refused:
                yield entry, target, "primal", made.primal_refused
            if made.gradient_refused and made.gradient_refused != made.primal_refused:
                yield entry, target, "gradient", made.gradient_refused
            for what, more in (("tangent", entry.forward.get(target)), ("second derivative", entry.second.get(target))):
                if more and more.gradient_refused not in {None, made.primal_refused, made.gradient_refused}:
                    yield entry, target, what, more.gradient_refused


def refusal_text(entry: Entry, on: str, what: str, refusal: Refusal) -> str:
    where = f"{refusal.file}:{refusal.line}: " if refusal.file else ""
    hint = f"\n  what to do: {refusal.hint}" if refusal.hint else ""
    return f"{where}{entry.signature.name} has no {what} on {on}: {refusal.reason}{hint}"


def parameter_table(entry: Entry) -> Table:
    """The parameters of an entry, one a row."""
    from rich.table import Table

    table = Table(title=str(entry.signature), title_justify="left", title_style="bold")
    for column in ("parameter", "type", "activity", "shadow", "primal"):
        table.add_column(column)
    for parameter in entry.signature:
        table.add_row(parameter.name, _type(parameter), parameter.activity, _shadow(parameter), _access(parameter))
    return table


def _type(parameter: Parameter) -> str:
    return str(parameter).removesuffix(parameter.name).strip()


def _shadow(parameter: Parameter) -> str:
    if not parameter.has_shadow:
        return "none"
    if not parameter.shadow_is_pointer:
        return f"a {parameter.dtype} of shadow pointers"
    return f"{parameter.dtype} array" if parameter.is_pointer else f"one-element {parameter.dtype} array"


def _access(parameter: Parameter) -> str:
    if not parameter.is_pointer:
        return "by value"
    return " and ".join(word for word, does in (("reads", parameter.reads), ("writes", parameter.writes)) if does)


def binary_table(artifact: Artifact) -> Table:
    """The binaries, and what each entry is called in them."""
    from rich.table import Table

    table = Table(title="binaries", title_justify="left", title_style="bold")
    for column in ("entry", "target", "file", "primal", "gradient", "shared bytes", "device heap"):
        table.add_column(column)
    for entry in artifact.entries:
        for target, made in entry.targets.items():
            shared = f"{made.static_shared_bytes}{' + dynamic' if made.dynamic_shared else ''}"
            symbols = (made.primal or "refused", made.gradient or "refused")
            heap = "yes" if made.heap else "no"
            table.add_row(entry.signature.name, target, _files(artifact, target), *symbols, shared, heap)
    return table


def _files(artifact: Artifact, target: Target) -> str:
    binaries = artifact.manifest.binaries
    if target == "openmp":
        return binaries.openmp.library if binaries.openmp else "none"
    return ", ".join(binary.cubin for binary in binaries.cuda.values())
