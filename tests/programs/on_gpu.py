"""Checks the gradients of all programs on a GPU, from artifacts that a machine with a compiler made.

python -m programs.on_gpu build FOLDER [--jobs 2]
python -m programs.on_gpu check FOLDER --output programs_on_gpu.json [--draws 4]
python -m programs.on_gpu judge FOLDER --output programs_on_gpu.json

All are run in `tests`, or with it on Python's path. The check needs CuPy and no compiler; each draw is of fresh
arguments. A program without an artifact counts as failed. Where differences step over a kink the check fails, too: on a
machine with a compiler `judge` draws the same arguments, asks dual numbers on the host, and writes to the data file
which of the failed are right, with a gradient on the GPU that is the host's.
"""

from __future__ import annotations

import argparse
import json
import re
import secrets
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from programs.gpu import assert_right_on_gpu
from programs.program import Program
from programs.table import GPU_PROGRAMS

import enzyme_driver as adgen
from enzyme_driver import cache, request
from enzyme_driver.errors import AdgenError
from enzyme_driver.runtime import module
from enzyme_driver.runtime.call.geometry import launch_of
from enzyme_driver.runtime.transforms.check import with_dual_numbers
from enzyme_driver.settings import Settings


def build(folder: Path, arch: str, jobs: int) -> list[str]:
    """An artifact of each program in a folder of its name; the messages of what does not compile."""
    with ThreadPoolExecutor(jobs) as pool:
        return [message for message in pool.map(partial(_built, folder, arch), GPU_PROGRAMS) if message]


def _built(folder: Path, arch: str, program: Program) -> str:
    try:
        wanted = request.new(
            program.path, names=[program.entry], targets=["cuda"], archs=[arch], activity=program.activity
        )
        made = cache.build(wanted, settings=Settings.from_environment(), use_cache=True)
        shutil.copytree(made, folder / program.name, dirs_exist_ok=True)
    except AdgenError as problem:
        return f"{program.name}: {problem}"
    return ""


def check(folder: Path, draws: int) -> dict[str, object]:
    """What is right and what is not, with the messages and seeds, as it is written to the data file."""
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"]
    failed = {program.name: message for program in GPU_PROGRAMS if (message := _failure(folder, program, draws))}
    return {
        "device": name.decode() if isinstance(name, bytes) else str(name),
        "date": datetime.now(UTC).date().isoformat(),
        "command": f"python -m programs.on_gpu check FOLDER --draws {draws}",
        "draws": draws,
        "programs": len(GPU_PROGRAMS),
        "right": len(GPU_PROGRAMS) - len(failed),
        "failed": failed,
    }


def _failure(folder: Path, program: Program, draws: int) -> str:
    for _ in range(draws):
        seed = secrets.randbits(31)
        try:
            kernel = _only(folder / program.name)
            assert_right_on_gpu(kernel, program, seed)
        except Exception as problem:  # noqa: BLE001, the others are to be checked as well
            message = f"{type(problem).__name__}: {problem} (seed {seed})"
            click.echo(f"{program.name}: {message}", err=True)
            return message
    return ""


_WRONG = re.compile(r"with respect to '(?P<name>.+?)'.* it is (?P<gradient>\S+), .*\(seed (?P<seed>\d+)\)$", re.DOTALL)


def judge(output: Path) -> None:
    """Move what is right by dual numbers from `failed` to `kinks` in the data file."""
    found = json.loads(output.read_text(encoding="utf-8"))
    kinks = [name for name, message in found["failed"].items() if _is_at_kink(name, message)]
    rest = {name: message for name, message in found["failed"].items() if name not in kinks}
    output.write_text(json.dumps(found | {"kinks": kinks, "failed": rest}, indent=1) + "\n", encoding="utf-8")


def _is_at_kink(name: str, message: str) -> bool:
    said = _WRONG.search(message)
    if said is None:
        return False
    (program,) = (each for each in GPU_PROGRAMS if each.name == name)
    kernel = adgen.compile(program.path, kernel=program.entry, target="openmp", activity=program.activity)
    seed = int(said["seed"])
    args = program.make(np.random.default_rng(seed))
    result = kernel.check[program.launch](*args.values(), seed=seed, tolerance=program.tolerance)
    (host,) = (each.gradient for each in result.parameters if each.name == said["name"])
    bound = kernel._arguments.bind(tuple(args.values()), {})
    judged = with_dual_numbers(result, kernel, bound, launch_of(program.launch)).dual_numbers
    same = np.isclose(float(said["gradient"]), host, rtol=result.tolerance, atol=0)
    return judged is not None and judged.state == "right" and bool(same)


def _only(folder: Path) -> Any:  # noqa: ANN401  (an adgen.Kernel)
    (kernel,) = module.load(folder, "cuda")
    return kernel


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["build", "check", "judge"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--output", type=Path, default=Path("programs_on_gpu.json"))
    options = parser.parse_args()
    if options.what == "build":
        messages = build(options.folder, options.arch, options.jobs)
        for message in messages:
            click.echo(message, err=True)
        return 1 if messages else 0
    if options.what == "judge":
        judge(options.output)
        return 0
    found = check(options.folder, options.draws)
    options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    click.echo(f"{found['right']} of {found['programs']} programs are right on {found['device']}")
    return 1 if found["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
