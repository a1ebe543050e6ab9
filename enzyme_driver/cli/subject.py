"""What `inspect` and `check` look at: an artifact, or a file that is compiled through the cache first."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from enzyme_driver import artifact, cache
from enzyme_driver.artifact import Artifact
from enzyme_driver.cli import options, output
from enzyme_driver.errors import UsageError
from enzyme_driver.request import Request


def open_subject(path: str, values: Mapping[str, Any]) -> Artifact:
    """The artifact in folder `path`, or that of file `path` under the options of `options.build`."""
    if Path(path).is_dir():
        _refuse_build_options(values)
        return artifact.read(path)
    request = options.make_request(path, values)
    if values.get("instead"):
        return _begun_within(request, values)
    with output.progress() as progress:
        settings = options.make_settings(values)
        return artifact.read(
            cache.build(request, settings=settings, use_cache=not values["no_cache"], progress=progress)
        )


def _begun_within(request: Request, values: Mapping[str, Any]) -> Artifact:
    """Compiled with IR of the caller's in place of what stands before one of the passes; see `adgen bisect`."""
    from enzyme_driver import pipeline
    from enzyme_driver.stages.inspection import Inspection

    ((name, ir),) = options.pairs("--instead", [values["instead"]]).items()
    folder = Path(tempfile.mkdtemp(prefix="adgen-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    inspection = Inspection(before=name, instead=Path(ir).absolute())
    settings = options.make_settings(values)
    return pipeline.build(request, folder / "artifact", settings=settings, inspection=inspection)


def _refuse_build_options(values: Mapping[str, Any]) -> None:
    """Options that an artifact has settled already must not be ignored silently."""
    settled = {
        "archs": "--arch",
        "activity": "--activity",
        "modes": "--mode",
        "inactive": "--inactive",
        "derivatives": "--derivative",
        "fast_math": "--fast-math",
        "disable": "--disable",
        "flags": "clang's flags",
    }
    given = [option for name, option in settled.items() if values[name]]
    if given:
        raise UsageError(
            f"an artifact is compiled already, {', '.join(given)} cannot change it", hint="give the source file instead"
        )
