"""`adgen pipeline`: the passes that a file's compilation runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from enzyme_driver.cli import options, output
from enzyme_driver.errors import UsageError

if TYPE_CHECKING:
    from enzyme_driver.pipelines import Pass
    from enzyme_driver.stages.inspection import Run


@click.command("pipeline")
@click.argument("file")
@click.option("--stats", is_flag=True, help="Show what each pass has counted (LLVM's statistics).")
@click.option("--debug-only", metavar="PASS", default="", help="Show what this pass has changed (LLVM's debug output).")
@options.build
@options.common
def command(file: str, *, stats: bool, debug_only: str, as_json: bool, **values: Any) -> None:  # noqa: ANN401
    """List the LLVM passes that compiling FILE runs, in their order.

    FILE is compiled for that, and nothing is kept. Each part is one process of opt; a part that is there several times
    was run again, without an entry that was refused. Behind a pass stand the switch that leaves it out (--disable) and
    what it does. Counters and debug output need an LLVM that was built with assertions.
    """
    from enzyme_driver import pipeline, registry
    from enzyme_driver.stages.inspection import Inspection

    debugged = debug_only and registry.PREFIX + debug_only.removeprefix(registry.PREFIX)
    if debugged and debugged not in registry.by_name():
        raise UsageError(f"there is no pass {debugged}", hint="`adgen pipeline FILE` lists those that run")
    inspection = Inspection(counting=stats, debugged=debugged)
    request = options.make_request(file, values)
    with output.progress() as progress:
        pipeline.inspected(request, inspection, settings=options.make_settings(values), progress=progress)
    if as_json:
        output.print_json([_as_data(run) for run in inspection.runs])
        return
    for run in inspection.runs:
        click.echo(f"{run.pipeline.name}:")
        for each in run.passes:
            click.echo(_line(each))
        for count in run.counts:
            click.echo(f"    {count.number:6} {count.name}: {count.what}")
        for note in run.notes:
            click.echo(f"    {note}")


def _line(each: Pass) -> str:
    from enzyme_driver import registry

    row = registry.by_name().get(each.name)
    name = each.name if not each.inner else f"{each.name}({','.join(one.name for one in each.inner)})"
    words = [f"--disable {each.turned_off_by}" if each.turned_off_by else "", row.summary if row else ""]
    return f"  {name:34} {'; '.join(word for word in words if word)}".rstrip()


def _as_data(run: Run) -> dict[str, object]:
    passes = [{"name": each.name, "option": each.option, "switch": each.turned_off_by} for each in run.passes]
    counts = [{"name": each.name, "number": each.number, "what": each.what} for each in run.counts]
    return {"pipeline": run.pipeline.name, "passes": passes, "counts": counts, "notes": list(run.notes)}
