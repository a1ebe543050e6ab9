"""Device mathematics on a GPU, from what `libdevice_sweep --cuda FOLDER` made; needs CuPy, and no compiler.

    PYTHONPATH=.:tests python tests/gpu/libdevice_gpu.py FOLDER --output mathematics.json

Writes the device, the date, how many kernels were tried and right, which were refused or wrong and why, and the error
of every slope; tests/libdevice_on_gpu.json is such a file. Ends with 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from libdevice_judge import PROBLEMS, Place, Problem, compute, errors, load

import enzyme_driver as adgen
from cuda_kernels.places import Gpu


@dataclass(frozen=True)
class Result:
    """The errors of one kernel, or why it could not be run."""

    name: str
    tolerance: float
    primal_error: float | None = None
    error: float | None = None
    where: str = ""
    refused: str = ""
    failure: str = ""

    @property
    def right(self) -> bool:
        found = (self.primal_error, self.error)
        return not self.failure and all(error is not None and error <= self.tolerance for error in found)


def run(name: str, kernel: adgen.Kernel | adgen.Function, given: Problem, place: Place) -> Result:
    """A failure is a result: the other kernels are to be run as well."""
    try:
        found = errors(given, compute(kernel, given, place))
    except adgen.RefusedError as refusal:
        return Result(name, given.tolerance, refused=refusal.reason)
    except adgen.AdgenError as problem:
        return Result(name, given.tolerance, failure=str(problem))
    return Result(name, given.tolerance, found.primal, found.slope, found.where)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, help="what libdevice_sweep --cuda wrote")
    parser.add_argument("--output", type=Path, required=True, help="the JSON file to write")
    options = parser.parse_args()

    place = Gpu()
    modules: dict[str, adgen.Module] = {}
    results = []
    for name, given in load(options.folder / PROBLEMS).items():
        artifact, _, kernel = name.partition("/")
        if (options.folder / artifact).is_dir():
            module = modules.setdefault(artifact, adgen.load(options.folder / artifact, target="cuda"))
            results.append(run(name, module[kernel], given, place))
        else:
            results.append(Result(name, given.tolerance, refused="the file was not compiled"))
    found = report(results)
    options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    click.echo(f"{found['right']} right, {len(found['refused'])} refused, {len(found['wrong'])} wrong")
    for name, why in found["wrong"].items():
        click.echo(f"{name}: {why}")
    return int(bool(found["wrong"]))


def report(results: Sequence[Result]) -> dict[str, Any]:
    """All of it, as data."""
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"]
    return {
        "device": name.decode() if isinstance(name, bytes) else str(name),
        "date": datetime.now(UTC).date().isoformat(),
        "tried": len(results),
        "right": sum(result.right for result in results),
        "refused": {result.name: result.refused for result in results if result.refused},
        "wrong": {result.name: str(result) for result in results if not result.right and not result.refused},
        "errors": {result.name: result.error for result in results if result.error is not None},
    }


if __name__ == "__main__":
    sys.exit(main())
