"""`adgen pipeline`: the passes that a file's compilation runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from enzyme_driver.cli import options, output

if TYPE_CHECKING:
    from enzyme_driver.pipelines import Pass
    from enzyme_driver.stages.inspection import Run


@click.command("pipeline")
@click.argument("file")
@options.build
@options.common
def command(file: str, *, as_json: bool, **values: Any) -> None:  # noqa: ANN401
    """List the LLVM passes that compiling FILE runs, in their order.

    FILE is compiled for that, and nothing is kept. Each part is one process of opt; a part that is there several times
    was run again, without an entry that was refused. Behind a pass stand the switch that leaves it out (--disable) and
    what it does.
    """
    from enzyme_driver import pipeline
    from enzyme_driver.stages.inspection import Inspection

    inspection = Inspection()
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


def _line(each: Pass) -> str:
    from enzyme_driver import registry

    row = registry.by_name().get(each.name)
    name = each.name if not each.inner else f"{each.name}({','.join(one.name for one in each.inner)})"
    words = [f"--disable {each.turned_off_by}" if each.turned_off_by else "", row.summary if row else ""]
    return f"  {name:34} {'; '.join(word for word in words if word)}".rstrip()


def _as_data(run: Run) -> dict[str, object]:
    passes = [{"name": each.name, "option": each.option, "switch": each.turned_off_by} for each in run.passes]
    return {"pipeline": run.pipeline.name, "passes": passes}
