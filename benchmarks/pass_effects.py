"""Which pass changes the IR of which kernels, programs and constructs: what changes little has to earn its place.

    python -m benchmarks.pass_effects store EFFECTS.jsonl [--only PATTERN] [--part K/N]
    python -m benchmarks.pass_effects table EFFECTS.jsonl benchmarks/results/pass_effects.json

What EFFECTS holds already is not compiled again. Of N processes, each with a file of its own, one compiles each Nth
unit from the Kth on; their files are one when they are written one behind the other. The table has a line for each
pass: how many units it changes, and the names of a few of them; `of` counts the units that were compiled, those of CUDA
for both targets.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import click

from benchmarks.compare_ir import ARCH, Unit, read, units
from benchmarks.host_cases import CASES
from enzyme_driver import pipeline, registry, request
from enzyme_driver.errors import AdgenError
from enzyme_driver.settings import Settings
from enzyme_driver.stages.inspection import Inspection

NAMED = 6
"""Units that a line of the table names."""


def every() -> list[Unit]:
    """What `benchmarks.compare_ir` compares, and the programs that are timed on the host."""
    host = (Unit(f"host/{case.name}", case.path, {"names": [case.function]}) for case in CASES)
    return [*host, *units()]


def effects(unit: Unit) -> list[str]:
    """The passes that change something, also where the compilation is refused then."""
    inspection = Inspection(comparing=True)
    try:
        wanted = request.new(unit.path, targets=unit.targets, archs=[ARCH], **unit.options)
        pipeline.inspected(wanted, inspection, settings=Settings.from_environment(), progress=None)
    except AdgenError as problem:
        click.echo(f"{unit.name}: {problem.reason}", err=True)
    return sorted({name for run in inspection.runs for name in run.changed})


@click.group(help=(__doc__ or "").splitlines()[0])
def main() -> None:
    """The subcommands say what is done."""


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--only", default="", help="A pattern of units.")
@click.option("--part", default="0/1", metavar="K/N", help="Each Nth unit from the Kth on, counted from 0.")
def store(file: Path, only: str, part: str) -> None:
    """Append what the file lacks."""
    known = read(file)
    first, step = map(int, part.split("/"))
    for unit in list(every())[first::step]:
        if unit.name in known or not re.search(only, unit.name):
            continue
        start = time.monotonic()
        row = {"unit": unit.name, "changed": effects(unit)}
        click.echo(f"{unit.name}: {time.monotonic() - start:.1f} s")
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")


@main.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True))
@click.argument("output", type=click.Path(path_type=Path))
def table(file: Path, output: Path) -> None:
    """Write a line for each pass, in the order of Passes.def."""
    found = read(file).values()
    lines = []
    for row in registry.rows():
        changed = sorted(each["unit"] for each in found if row.name in each["changed"])
        about = {"pass": row.name, "optional": row.optional, "changes": len(changed), "of": len(found)}
        lines.append(json.dumps({**about, "units": changed[:NAMED]}))
    output.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
