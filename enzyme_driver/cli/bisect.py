"""`adgen bisect`: the pass that makes a gradient wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from enzyme_driver.cli import options, output
from enzyme_driver.errors import CompilerCrashError, UsageError
from enzyme_driver.request import Request
from enzyme_driver.settings import Settings

REDUCING = 120.0


@click.command("bisect")
@click.argument("file")
@options.build
@options.checked
@click.option("-o", "--output", "folder", metavar="DIR", default=".", help="Folder of the FileCheck stub. Default: .")
@click.option("--timeout", type=float, default=300.0, help="Seconds for one check. Default: 300.")
@click.option(
    "--reduce",
    "seconds",
    type=float,
    default=REDUCING,
    help=f"Seconds for llvm-reduce, 0 for none of it. Default: {REDUCING:g}.",
)
@options.common
def command(
    file: str,
    folder: str,
    timeout: float,
    seconds: float,
    *,
    as_json: bool,
    **values: Any,  # noqa: ANN401
) -> None:
    """Find the first optional pass that makes the gradient of FILE wrong, or a compiler crash.

    The options are those of `adgen check`, which is run with more and more of adgen's optional passes. The IR before
    the pass is written as a FileCheck file, made smaller by llvm-reduce where that is installed: what has to come out
    is for you to say.
    """
    from enzyme_driver import bisect, toolchain
    from enzyme_driver.stages.source import language

    if Path(file).is_dir():
        raise UsageError(f"{file} is an artifact, it is compiled already", hint="give the source file")
    arguments = list(_arguments(file, values))
    request = options.make_request(file, values)
    passes = bisect.optional_passes(language(request.path), request.targets)
    found = bisect.culprit(passes, bisect.trial(arguments, timeout), output.say)
    settings = options.make_settings({"disable": values["disable"] | found.left_out})
    path = Path(folder) / f"{found.switch}-bisected.ll"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_before(request, found.name, settings), encoding="utf-8")
    smaller = seconds > 0 and bisect.reduced(path, found, arguments, toolchain.ensure(settings), seconds)
    path.write_text(bisect.stub(found, path.read_text(encoding="utf-8")), encoding="utf-8")
    if as_json:
        output.print_json({"pass": found.name, "verdict": found.verdict, "alone": found.alone, "stub": str(path)})
        return
    click.echo(f"{found.name} ({found.source}) is the first pass with which the check says {found.verdict}")
    click.echo(f"without it alone the check says {'right' if found.alone else 'the same'}: --disable {found.switch}")
    click.echo(f"the IR before it: {path}{'' if smaller else ' (not reduced)'}")


def _before(request: Request, name: str, settings: Settings) -> str:
    """The IR before the pass, of the first run that has it."""
    from enzyme_driver import pipeline
    from enzyme_driver.stages.inspection import Inspection

    inspection = Inspection(before=name)
    with suppress(CompilerCrashError):
        pipeline.inspected(request, inspection, settings=settings, progress=None)
    return next(dump for run in inspection.runs for dump in run.dumps)


_SINGLE = {"grid": "--grid", "block": "--block", "shared_bytes": "--shared-bytes", "tolerance": "--tolerance"}
_SEVERAL = {
    "names": "-k",
    "targets": "-t",
    "archs": "--arch",
    "activity": "--activity",
    "modes": "--mode",
    "inactive": "--inactive",
    "derivatives": "--derivative",
    "disable": "--disable",
    "arguments": "--arg",
}


def _arguments(file: str, values: dict[str, Any]) -> Iterator[str]:
    """The command line of the check."""
    yield str(Path(file).absolute())
    for name, option in _SEVERAL.items():
        for value in sorted(values[name]) if name == "disable" else values[name]:
            yield from (option, value)
    for name, option in _SINGLE.items():
        if values[name] is not None:
            yield from (option, str(values[name]))
    yield from ("--seed", str(values["seed"]))
    if values["fast_math"]:
        yield "--fast-math"
    if values["flags"]:
        yield from ("--", *values["flags"])
