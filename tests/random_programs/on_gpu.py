"""Compares gradients of random kernels on a GPU with those of the host, from artifacts that another machine made.

    python -m random_programs.on_gpu build FOLDER [--first N] [--count N] [--at-once N]
    python -m random_programs.on_gpu check FOLDER [--record FILE]

Both are run in `tests`, or with it on Python's path. Of what is built, those kernels are asked whose gradient on the
host agrees with dual numbers; the check needs CuPy and no compiler.
"""

from __future__ import annotations

import argparse
import json
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from programs.soundness import with_arrays
from random_programs import grammar
from random_programs.batch import Outcome
from random_programs.programs import PRACTICE_FROM, Drawn, file, program
from random_programs.tally import recorded
from random_programs.trial import COMPLAIN, verdicts, witnesses

import enzyme_driver as adgen
from enzyme_driver import cache, request
from enzyme_driver.runtime.call.slots import written
from enzyme_driver.runtime.module import load
from enzyme_driver.runtime.transforms import check_case, check_numbers
from enzyme_driver.settings import Settings

SEED = 1
TOLERANCE = {"double": 1e-8, "float": 2e-3}
"""Largest accepted difference of two targets, relative to the largest derivative."""
NOTHING = 1e-6
"""A largest derivative that is smaller is rounding."""
EXPECTED, ABOUT = "expected.npz", "kernels.json"


def build(folder: Path, first: int, count: int) -> None:
    """One file of kernels as an artifact for both targets, with the host's gradients beside it."""
    drawn = [program(number, cuda=True) for number in range(first, first + count)]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"batch{first}.cu"
    path.write_text(file(drawn), encoding="utf-8")
    wanted = request.new(path, targets=("openmp", "cuda"), flags=COMPLAIN)
    made = cache.build(wanted, settings=Settings.from_environment(), use_cache=False)
    shutil.copytree(made, folder / "artifact", dirs_exist_ok=True)
    module = load(folder / "artifact", "openmp")
    found = list(verdicts(module, witnesses(path), drawn))
    right = [each for each, (word, _) in zip(drawn, found, strict=True) if word == "right"]
    expected: dict[str, Any] = {
        f"{each.number} {name}": part for each in right for name, part in gradients(module, each).items()
    }
    np.savez_compressed(folder / EXPECTED, **expected)
    about = [
        {"number": each.number, "verdict": word, "why": why} for each, (word, why) in zip(drawn, found, strict=True)
    ]
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def gradients(module: adgen.Module, drawn: Drawn, put: Any = None) -> dict[str, np.ndarray[Any, Any]]:  # noqa: ANN401
    """Of random weights of all that the kernel writes, at the arguments of one draw."""
    values = drawn.arguments(SEED)
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


def check(folder: Path) -> Iterator[Outcome]:
    """What became of the kernels in the artifact of a folder."""
    from cuda_kernels.places import Gpu

    expected = np.load(folder / EXPECTED)
    module = load(folder / "artifact", "cuda")
    about = json.loads((folder / ABOUT).read_text("utf-8"))
    asked = [program(each["number"], cuda=True) for each in about if each["verdict"] == "right"]
    for each in asked:
        yield _outcome(module, each, expected, Gpu().put)


def _outcome(module: adgen.Module, drawn: Drawn, expected: Any, put: Any) -> Outcome:  # noqa: ANN401
    kernel = module[drawn.name]
    if kernel.gradient_refusal:
        return Outcome(drawn.number, "refused", kernel.gradient_refusal)
    try:
        found = gradients(module, drawn, put)
    except adgen.AdgenError as problem:
        return Outcome(drawn.number, "crashed", str(problem))
    for name, part in found.items():
        other = expected[f"{drawn.number} {name}"]
        apart = float(np.max(np.abs(part - other), initial=0.0))
        size = float(np.max(np.abs(other), initial=0.0))
        if not apart <= TOLERANCE[drawn.real] * max(size, NOTHING):
            return Outcome(drawn.number, "wrong", f"{name}: {apart:.2e} apart of {size:.2e}")
    return Outcome(drawn.number, "right")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("build", "check"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, help="number of the first kernel; by default any")
    parser.add_argument("--count", type=int, default=240)
    parser.add_argument("--at-once", type=int, default=12)
    parser.add_argument("--record", type=Path)
    given = parser.parse_args()
    if given.what == "build":
        first = secrets.randbelow(10**9) + PRACTICE_FROM if given.first is None else given.first
        for start in range(first, first + given.count, given.at_once):
            build(given.folder / str(start), start, min(given.at_once, first + given.count - start))
        return 0
    began, found = time.monotonic(), list[Outcome]()
    for folder in sorted(each for each in given.folder.iterdir() if (each / ABOUT).exists()):
        for outcome in check(folder):
            found.append(outcome)
            if outcome.verdict != "right":
                click.echo(f"{outcome.number}: {outcome.verdict}: {outcome.why}")
    right = sum(each.verdict == "right" for each in found)
    click.echo(f"{right} of {len(found)} kernels as on the host, {time.monotonic() - began:.0f} s")
    if given.record:
        recorded(given.record, f"cuda: grammar of {grammar.PHRASES} phrases", "cuda", found)
    return 0 if right == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
