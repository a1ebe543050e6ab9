"""Programs of many authors on the OpenMP target: the gradient is that of the program's own primal. For the GPU all are
compiled, too, and their code has not grown."""

from __future__ import annotations

import secrets
from dataclasses import replace

import numpy as np
import pytest
from programs.code import assert_not_grown
from programs.program import FOLDER, Program
from programs.soundness import assert_sound, run
from programs.table import PROGRAMS

import enzyme_driver as adgen
from enzyme_driver import cache, request
from enzyme_driver.model import TARGETS
from enzyme_driver.runtime import module
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.settings import Settings

ON_HOST = [program for program in PROGRAMS if not program.refused]
REFUSED = [program for program in PROGRAMS if program.refused]


RIGHT, WRONG = 2, 5
"""Draws of arguments that must be right, before so many were wrong: programs with branches jump, and in the worst of
them finite differences cross a jump in every fifth draw. A wrong gradient is wrong in all."""


def compiled(program: Program) -> Kernel | Function:
    """For the host. What has kernels is compiled to a cubin as well: GPUs are rare, but ptxas is here.

    Once, and not again with fewer registers or for other blocks, which takes two thirds of the time of the longest
    tests.
    """
    if program.block is None:
        return adgen.compile(program.path, function=program.entry, activity=program.activity)
    wanted = request.new(program.path, names=[program.entry], targets=TARGETS, activity=program.activity)
    settings = Settings.from_environment()
    once = replace(settings, disable=settings.disable | {"bound-registers", "block-variants", "spill-to-shared"})
    made = cache.build(wanted, settings=once, use_cache=True)
    assert_not_grown(program, made)
    return next(iter(module.load(made, "openmp")))


def marked(program: Program) -> object:
    runs = not program.broken.startswith("crash:")
    marks = [pytest.mark.xfail(reason=program.broken, strict=True, run=runs)] if program.broken else []
    return pytest.param(program, id=program.name, marks=marks)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("program", [marked(program) for program in ON_HOST])
def test_gradient(program: Program) -> None:
    subject, right, problems = compiled(program), 0, list[str]()
    assert not [made.gradient_refused for made in subject._entry.targets.values() if made.gradient_refused]
    while right < RIGHT:
        seed = secrets.randbits(31)
        try:
            assert_sound(subject, program, seed)
            right += 1
        except (AssertionError, adgen.CheckFailedError) as problem:
            problems.append(f"seed {seed}: {problem}")
        assert len(problems) < WRONG, "\n".join(problems)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("program", [marked(program) for program in REFUSED])
def test_refused_with_a_reason(program: Program) -> None:
    with pytest.raises(adgen.RefusedError, match=program.refused) as caught:
        run(compiled(program), program, program.make(np.random.default_rng(0)))
    assert caught.value.hint
    assert caught.value.location is not None
    assert caught.value.location.line


def test_every_file_is_in_the_table() -> None:
    files = {path.name for suffix in ("*.cu", "*.cpp") for path in FOLDER.glob(suffix)}
    assert {program.file for program in PROGRAMS} == files
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
