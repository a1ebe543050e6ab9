"""Compiles a batch of programs as one file and checks every gradient; one line of JSON about each, as it comes.

    python -m random_programs.trial cuda|cpp|both|gpu FIRST COUNT FOLDER [SOURCE]

A process of its own, so that a crash says which program it was: the one that began and did not end. SOURCE is a file
with the text of the one program, in place of what its number stands for. `both` are kernels of `grammar` that are
compiled for the GPU, too, and left in the folder; `gpu` runs there what is right of them (`on_gpu`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from random_programs import on_gpu
from random_programs.programs import POINTS, Drawn, file, idiomatic, practised, program

import enzyme_driver as adgen
from enzyme_driver import cache, request
from enzyme_driver.runtime.module import load, standing_for
from enzyme_driver.runtime.transforms import check_difference
from enzyme_driver.runtime.transforms.verify import verify
from enzyme_driver.settings import Settings

SEEDS = (1, 2, 3)
"""A branch may flip between the points of a finite difference, but hardly with several arguments."""


STEPS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
"""Some programs are so steep that a millionth goes over many kinks."""
ADJOINT = 1e-9
LARGEST = 1e20
"""Behind a derivative of this size something may be no number."""


ENDLESS = "the gradient is not finite"
"""What verifying says where the derivative is."""

COMPLAIN = ("-Werror=uninitialized", "-Werror=sometimes-uninitialized", "-Werror=return-type")
"""What reads variables that hold nothing has no derivative to compare."""

ZEROED = ("-ftrivial-auto-var-init=zero",)
"""Nor has what is left of a program where only the loop that filled an array is gone; clang says nothing there."""


def main(language: str, first: str, count: str, folder: str, source: str = "") -> None:
    numbers = range(int(first), int(first) + int(count))
    if language == "gpu":
        _on_gpu(Path(folder), numbers)
        return
    drawn = [program(number, cuda=language != "cpp") for number in numbers]
    name = f"reduced{first}" if source else f"batch{first}"
    path = Path(folder) / f"{name}.{'cpp' if language == 'cpp' else 'cu'}"
    if source:
        drawn = [replace(drawn[0], source=Path(source).read_text("utf-8"))]
    path.write_text(file(drawn), encoding="utf-8")
    modes = ["forward"] if idiomatic(drawn[0].number) and not practised(drawn[0].number) else []
    targets = ("openmp", "cuda") if language == "both" else ("openmp",)
    wanted = request.new(path, targets=targets, flags=flags(source), modes=modes)
    try:
        made = cache.build(wanted, settings=Settings.from_environment(), use_cache=False)
    except adgen.RefusedError as refusal:
        if len(drawn) > 1:
            raise  # one of them is refused with the whole file, and the batch is split
        _say(number=drawn[0].number, verdict="refused", why=str(refusal))
        return
    module = load(made, "openmp")
    if practised(drawn[0].number):
        found = []
        told = verdicts(module, witnesses(path, flags(source)), drawn, _began)
        for each, (word, why) in zip(drawn, told, strict=True):
            _say(number=each.number, verdict=word, why=why)
            found.append((word, why))
        if "cuda" in targets:
            on_gpu.keep(made, Path(folder) / f"made{first}", drawn, found)
        return
    _by_differences(module, drawn)


def _on_gpu(folder: Path, numbers: range) -> None:
    for about in folder.glob(f"*/{on_gpu.ABOUT}"):
        for outcome in on_gpu.check(about.parent, numbers, _began):
            _say(**asdict(outcome))


def _by_differences(module: adgen.Module, drawn: list[Drawn]) -> None:
    check_difference.STEPS = {8: STEPS}
    for each in drawn:
        _began(each)
        _say(number=each.number, **_verdict(module[each.name], each))


def flags(source: str) -> tuple[str, ...]:
    return COMPLAIN + ZEROED if source else COMPLAIN


def witnesses(path: Path, flags: tuple[str, ...] = COMPLAIN) -> adgen.Module:
    """The kernels of a file with dual numbers in place of numbers."""
    wanted = replace(request.new(path, flags=flags), witness="duals")
    return load(cache.build(wanted, settings=Settings.from_environment(), use_cache=False), "openmp")


def verdicts(
    module: adgen.Module, duals: adgen.Module, drawn: list[Drawn], began: Callable[[Drawn], None] = lambda _: None
) -> Iterator[tuple[str, str]]:
    """Of each kernel by dual numbers, on the arguments of one draw, and why where it is not right."""
    for each in drawn:
        began(each)
        kernel = module[each.name]
        if kernel.gradient_refusal:
            yield "refused", kernel.gradient_refusal
            continue
        witness = standing_for(duals[each.name], kernel)
        draws = (each.arguments(SEEDS[0]), each.arguments(SEEDS[1], special=True))
        found = [verify(kernel, witness, tuple(values), each.launch) for values in draws]
        worst = next((each for each in found if each.state in {"wrong", "race"} or ENDLESS in each.reason), found[0])
        word = "wrong" if ENDLESS in worst.reason else {"unchecked": "undecided"}.get(worst.state, worst.state)
        why = worst.reason or f"{worst.parameter} by {worst.error:.1e}: {worst.elements}"
        yield word, "" if word == "right" else why


def _began(drawn: Drawn) -> None:
    _say(number=drawn.number, verdict="began")


def _verdict(compiled: Any, drawn: Drawn) -> dict[str, str]:  # noqa: ANN401  (a Kernel or a Function)
    shadowed = compiled.signature.shadowed
    if not any(each.writes for each in shadowed) or not any(each.reads for each in shadowed):
        return {"verdict": "right"}  # every thread leaves before it writes, or what it writes depends on nothing
    launch = drawn.launch and (drawn.launch.grid, drawn.launch.block)
    problems = []
    for seed in SEEDS:
        try:
            if idiomatic(drawn.number):
                _check_adjoint(compiled, launch, drawn.arguments(seed), seed)
            else:
                _of(compiled.check, launch)(*drawn.arguments(seed), seed=seed)
        except adgen.RefusedError as refusal:
            return {"verdict": "refused", "why": str(refusal)}
        except adgen.AdgenError as problem:
            problems.append(str(problem))
        else:
            if not idiomatic(drawn.number):
                return {"verdict": "right"}
    return {"verdict": "wrong", "why": problems[0]} if problems else {"verdict": "right"}


def _of(called: Any, launch: Any) -> Any:  # noqa: ANN401
    return called[launch] if launch else called


def _check_adjoint(compiled: Any, launch: Any, arguments: list[Any], seed: int) -> None:  # noqa: ANN401
    """The gradient and forward mode are transposes of each other, at kinks and jumps too."""
    rng = np.random.default_rng(seed)
    written = [each.name for each in compiled.signature.shadowed if each.writes and not each.const]
    cotangents = {name: rng.normal(size=POINTS) for name in written}
    reverse = _of(compiled.vjp, launch)(*arguments, cotangents=cotangents)
    along = {name: rng.normal(size=POINTS) for name in reverse}
    forward = _of(compiled.jvp, launch)(*arguments, tangents=along)
    one = sum(float(cotangents[name] @ forward[name]) for name in written)
    other = sum(float(reverse[name] @ along[name]) for name in reverse)
    size = sum(float(np.abs(reverse[name]) @ np.abs(along[name])) for name in reverse)
    overflows = not abs(one) < LARGEST
    if not overflows and not abs(one - other) <= ADJOINT * (size + abs(one)):
        raise adgen.CheckFailedError(f"forward mode gives {one:.9g}, the gradient {other:.9g}")


def _say(**fields: object) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
