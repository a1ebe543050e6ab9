"""Compares gradients of random kernels on a GPU with those of the host, from artifacts that another machine made.

    python -m random_programs.on_gpu build FOLDER [--first N] [--count N] [--at-once N]
    python -m random_programs.on_gpu check FOLDER [--record FILE]

Both are run in `tests`, or with it on Python's path. Of what is built, those kernels are asked whose gradient on the
host agrees with dual numbers; the check needs CuPy and no compiler. `random_programs.soak` does both on one machine.
"""

from __future__ import annotations

import argparse
import json
import re
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from programs.soundness import with_arrays
from random_programs import batch
from random_programs.batch import Outcome
from random_programs.programs import PRACTICE_FROM, Drawn, kind, program
from random_programs.tally import recorded

import enzyme_driver as adgen
from enzyme_driver.runtime.call.slots import written
from enzyme_driver.runtime.module import load
from enzyme_driver.runtime.transforms import check_case, check_numbers

SEED = 1
TOLERANCE = {"double": 1e-8, "float": 2e-3, "half": 3e-2}
"""Largest accepted difference of two targets, relative to the largest derivative, by the narrowest type."""
ROUNDING = {"double": 2.0**-50, "float": 2.0**-21, "half": 2.0**-8}
"""By how much arguments are moved to see what rounding makes of a gradient."""
ILL = 30
"""A difference of so many times what moving changes is no error."""
NOTHING = 1e-6
"""A largest derivative that is smaller is rounding."""
EXPECTED, ABOUT = "expected.npz", "kernels.json"

Gradients = dict[str, np.ndarray[Any, Any]]


def narrowest(drawn: Drawn) -> str:
    """What a kernel computes in at places; `turned` and fast functions (`__expf`) take floats of anything."""
    if re.search(r"__half|bfloat16", drawn.source):
        return "half"
    return "float" if re.search(r"float|turned\(|\b__\w+f\(", drawn.source) else "double"


def keep(made: Path, folder: Path, drawn: list[Drawn], found: list[tuple[str, str]]) -> None:
    """Leave an artifact for both targets in a folder, with the host's gradients of what is right beside it."""
    shutil.copytree(made, folder / "artifact", dirs_exist_ok=True)
    module = load(folder / "artifact", "openmp")
    right = [each for each, (word, _) in zip(drawn, found, strict=True) if word == "right"]
    expected: Gradients = {}
    for each in right:
        there = gradients(module, each)
        moved = gradients(module, each, by=ROUNDING[narrowest(each)])
        for name, part in there.items():
            expected[f"{each.number} {name}"] = part
            expected[f"{each.number} {name} moved"] = np.asarray(np.max(np.abs(part - moved[name]), initial=0.0))
    np.savez_compressed(folder / EXPECTED, **expected)  # type: ignore[arg-type]
    about = [
        {"number": each.number, "verdict": word, "why": why} for each, (word, why) in zip(drawn, found, strict=True)
    ]
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def gradients(module: adgen.Module, drawn: Drawn, put: Any = None, by: float = 0.0) -> Gradients:  # noqa: ANN401
    """Of random weights of all that the kernel writes, at the arguments of one draw, each moved by some of it."""
    values = [_moved(each, by) if by else each for each in drawn.arguments(SEED)]
    kernel: Any = module[drawn.name]
    launch: Any = drawn.launch
    case = check_case.kernel_case(kernel, tuple(with_arrays(each, put) if put else each for each in values), launch)
    rng = np.random.default_rng(SEED)
    starts = {p.name: check_case.on_host(case, p) for p in case.shadowed if written(p)}
    weights = {name: check_numbers.random_like(start, rng) for name, start in starts.items()}
    return {
        f"{name} {k}": np.asarray(part)
        for name, of in check_case.gradients_of(case, weights).items()
        for k, part in enumerate(check_numbers.floats_of(of))
    }


def _moved(value: Any, by: float) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {name: _moved(each, by) for name, each in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        signs = np.random.default_rng(SEED).choice((-1, 1), value.shape)
        return (value * (1 + by * signs)).astype(value.dtype)
    return value


def check(folder: Path, numbers: range, began: Callable[[Drawn], None] = lambda _: None) -> Iterator[Outcome]:
    """What became of the kernels of those numbers in the artifact of a folder; nothing more after a crash."""
    from cuda_kernels.places import Gpu

    about = json.loads((folder / ABOUT).read_text("utf-8"))
    right = [each["number"] for each in about if each["verdict"] == "right" and each["number"] in numbers]
    if not right:
        return
    expected = np.load(folder / EXPECTED)
    module = load(folder / "artifact", "cuda")
    for number in right:
        drawn = program(number, cuda=True)
        began(drawn)
        outcome = _outcome(module, drawn, expected, Gpu().put)
        yield outcome
        if outcome.verdict == "crashed":
            sys.exit(1)  # what ends a CUDA context ends all that follows in this process


def _outcome(module: adgen.Module, drawn: Drawn, expected: Any, put: Any) -> Outcome:  # noqa: ANN401
    kernel = module[drawn.name]
    if kernel.gradient_refusal:
        return Outcome(drawn.number, "refused", kernel.gradient_refusal)
    try:
        found = gradients(module, drawn, put)
    except adgen.AdgenError as problem:
        return Outcome(drawn.number, "crashed", str(problem))
    tolerance = TOLERANCE[narrowest(drawn)]
    for name, part in found.items():
        other = expected[f"{drawn.number} {name}"]
        apart = float(np.max(np.abs(part - other), initial=0.0))
        size = float(np.max(np.abs(other), initial=0.0))
        if not apart <= tolerance * max(size, NOTHING):
            ill = apart <= ILL * float(expected[f"{drawn.number} {name} moved"])
            return Outcome(drawn.number, "undecided" if ill else "wrong", f"{name}: {apart:.2e} apart of {size:.2e}")
    return Outcome(drawn.number, "right")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("build", "check"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, help="number of the first kernel; by default any")
    parser.add_argument("--count", type=int, default=240)
    parser.add_argument("--at-once", type=int, default=24)
    parser.add_argument("--record", type=Path)
    given = parser.parse_args()
    began, found = time.monotonic(), list[Outcome]()
    if given.what == "build":
        given.folder.mkdir(parents=True, exist_ok=True)
        first = secrets.randbelow(10**9) + PRACTICE_FROM if given.first is None else given.first
        for start in range(first, first + given.count, given.at_once):
            found += batch.outcomes("both", start, min(given.at_once, first + given.count - start), given.folder)
    else:
        for about in sorted(given.folder.glob(f"*/{ABOUT}")):
            numbers = [each["number"] for each in json.loads(about.read_text("utf-8"))]
            found += batch.outcomes("gpu", numbers[0], len(numbers), given.folder)
    for outcome in found:
        if outcome.verdict != "right":
            click.echo(f"{outcome.number}: {outcome.verdict}: {outcome.why}")
    right = sum(each.verdict == "right" for each in found)
    click.echo(f"{right} of {len(found)} kernels right, {time.monotonic() - began:.0f} s")
    if given.record:
        target = "openmp" if given.what == "build" else "cuda"
        recorded(given.record, kind("cuda", PRACTICE_FROM), target, found)
    return 0 if right == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
