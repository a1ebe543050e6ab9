"""Checks every construct on a GPU, from artifacts that a machine with a compiler made; page.py shows what was right.

python -m constructs.on_gpu build FOLDER [--jobs 2]
python -m constructs.on_gpu check FOLDER
"""

from __future__ import annotations

import argparse
import json
import secrets
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from constructs.construct import SourceFile
from constructs.outcome import checked, compiled
from constructs.page import ON_GPU
from constructs.table import FILES

from enzyme_driver.errors import AdgenError
from enzyme_driver.model import Target
from enzyme_driver.runtime import module

KERNELS = [file for file in FILES if "cuda" in file.targets]


def build(folder: Path, jobs: int) -> None:
    """The artifacts of all files that have kernels."""
    with ThreadPoolExecutor(jobs) as pool:
        for file, artifact in zip(KERNELS, pool.map(compiled, KERNELS), strict=True):
            shutil.copytree(artifact, folder / file.path.stem, dirs_exist_ok=True)


def right(file: SourceFile, artifact: Path, target: Target, put: Callable[[Any], Any]) -> list[str]:
    """The kernels of the file whose gradient is right on the target; `put` places an array there."""
    loaded = module.load(artifact, target)
    found = []
    for construct in file.constructs:
        if construct.refused:
            continue
        try:
            wrong = checked(construct, loaded, secrets.randbits(31), put)
        except AdgenError as problem:
            wrong = str(problem)
        if wrong:
            click.echo(f"{construct.entry}: {wrong}", err=True)
        else:
            found.append(construct.entry)
    return found


def check(folder: Path) -> None:
    """Write the data file."""
    import cupy

    from cuda_kernels.places import Gpu

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"]
    found = {file.name: right(file, folder / file.path.stem, "cuda", Gpu().put) for file in KERNELS}
    date = datetime.now(UTC).date().isoformat()
    data = {"device": name.decode() if isinstance(name, bytes) else str(name), "date": date, "right": found}
    ON_GPU.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["build", "check"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    build(options.folder, options.jobs) if options.what == "build" else check(options.folder)
