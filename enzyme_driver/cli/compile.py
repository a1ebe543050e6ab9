"""`adgen compile`: the main job."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from enzyme_driver import artifact, cache, processor
from enzyme_driver.artifact import Artifact
from enzyme_driver.cli import describe, options, output
from enzyme_driver.errors import Location, RefusedError, UsageError

STAGES = "primal, prepared, gradient, cuda, openmp, ptx, gfx90a or gfx942"
"""The pipeline's, in words, without importing it for `--help`."""


@click.command("compile")
@click.argument("file")
@options.build
@click.option("-o", "--output", "folder", metavar="DIR", help="Folder of the artifact. Default: ./<stem>.adgen.")
@click.option("--emit", "stage", metavar="STAGE", help=f"Write the text of one stage instead: {STAGES}.")
@click.option("--print-after", "watched", metavar="PASS", help="Write the IR behind each run of this pass instead.")
@options.common
def command(
    file: str,
    folder: str | None,
    stage: str | None,
    watched: str | None,
    *,
    as_json: bool,
    **values: Any,  # noqa: ANN401
) -> None:
    """Compile FILE (CUDA or C++) and the gradients of its kernels or functions into an artifact.

    The artifact is a folder with the binaries, a C header, a Python module and a manifest. It replaces an
    artifact of the same name, never any other folder, and only once everything has been compiled.
    Other flags for clang come after --.
    """
    if stage is not None:
        _emit(file, stage, folder, values, as_json=as_json)
        return
    if watched is not None:
        _print_after(file, watched, folder, values, as_json=as_json)
        return
    start = time.perf_counter()
    request = options.make_request(file, values)
    use_cache = not values["no_cache"]
    with output.progress() as progress:
        made = artifact.read(
            cache.build(request, settings=options.make_settings(values), use_cache=use_cache, progress=progress)
        )
        _tell_refusals(made)
        published = _copy(made, Path(folder or f"{request.path.stem}.adgen"))
    _show(published, time.perf_counter() - start, as_json=as_json)


def _emit(file: str, stage: str, folder: str | None, values: dict[str, Any], *, as_json: bool) -> None:
    from enzyme_driver import pipeline

    if stage not in pipeline.STAGES:
        raise UsageError(f"there is no stage {stage!r}", hint=f"the stages are {', '.join(pipeline.STAGES)}")
    if folder is not None:
        raise UsageError("--emit writes to standard output, there is no artifact for -o", hint="leave one of them out")
    request = options.make_request(file, values)
    with output.progress() as progress:
        progress(stage)
        text = pipeline.emit(request, stage, settings=options.make_settings(values))
    if as_json:
        output.print_json({"stage": stage, "text": text})
    else:
        click.echo(text, nl=not text.endswith("\n"))


def _print_after(file: str, watched: str, folder: str | None, values: dict[str, Any], *, as_json: bool) -> None:
    from enzyme_driver import pipeline
    from enzyme_driver.stages.inspection import Inspection

    if folder is not None:
        raise UsageError("--print-after writes to standard output, there is no artifact for -o", hint="leave one out")
    inspection = Inspection(after=watched)
    request = options.make_request(file, values)
    try:
        with output.progress() as progress:
            pipeline.inspected(request, inspection, settings=options.make_settings(values), progress=progress)
    finally:  # also where the compilation has ended in a refusal
        _show_dumps([(run.pipeline.name, dump) for run in inspection.runs for dump in run.dumps], as_json=as_json)
    if not any(run.dumps for run in inspection.runs):
        raise UsageError(f"no pass {watched} has run", hint="`adgen pipeline FILE` lists those that do")


def _show_dumps(dumps: list[tuple[str, str]], *, as_json: bool) -> None:
    if as_json and dumps:
        output.print_json([{"pipeline": name, "text": dump} for name, dump in dumps])
        return
    for name, dump in dumps:
        click.echo(f"; {name}\n{dump}", nl=not dump.endswith("\n"))


def _tell_refusals(made: Artifact) -> None:
    """A refusal is a warning as long as there is one gradient, else it is the error."""
    refused = describe.refusals(made)
    if any(built.gradient for entry in made.entries for built in entry.targets.values()):
        for refusal in refused:
            output.warn(describe.refusal_text(*refusal))
    elif refused:
        entry, on, what, why = refused[0]
        location = Location(why.file, why.line) if why.file else None
        reason = f"{entry.signature.name} has no {what} on {on}: {why.reason}"
        raise RefusedError(reason, hint=why.hint, location=location)


def _copy(made: Artifact, folder: Path) -> Artifact:
    """The artifact at the place that the user wants, published by one rename; without what only the cache needs."""
    manifest = made.manifest
    host, device = manifest.binaries.openmp, manifest.binaries.cuda
    apart = {artifact.DEPENDENCIES, artifact.MANIFEST}
    files = {path.name: path for path in made.folder.iterdir() if path.name not in apart}
    contents = artifact.Contents(
        adgen=manifest.adgen,
        source=manifest.source,
        options=manifest.options,
        entries=manifest.entries,
        files=files,
        library=host.library if host else None,
        cpu=host.cpu if host else processor.PLAIN,
        cuda={arch: (binary.cubin, binary.ptx) for arch, binary in device.items()},
        blocks={arch: binary.blocks for arch, binary in device.items()},
        toolkit=next((binary.toolkit for binary in device.values()), ""),
    )
    return artifact.write(folder, contents)


def _show(made: Artifact, seconds: float, *, as_json: bool) -> None:
    if as_json:
        output.print_json({**describe.as_data(made), "seconds": round(seconds, 3)})
        return
    for line in describe.lines(made):
        click.echo(line)
    output.say(f"compiled in {seconds:.1f} s")
