"""OpenMP in C++: the same gradient with any number of threads, and errors in the primal."""

from __future__ import annotations

import secrets

import numpy as np
import pytest
from programs.program import FOLDER, Program
from programs.rows import engineering, openmp
from programs.soundness import numbers
from threads_support import set_threads

import enzyme_driver as adgen
from enzyme_driver.runtime.function import Function

TEAMS = (1, 2, 3, 7)
CONSTRUCTS = [program for program in (*openmp.ROWS, *engineering.ROWS) if not program.refused]


def compiled(program: Program) -> Function:
    function = adgen.compile(program.path, function=program.entry, activity=program.activity)
    assert isinstance(function, Function)
    return function


def gradient(function: Function, program: Program, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    args = program.make(rng)
    cotangents = {name: rng.standard_normal(args[name].shape).astype(args[name].dtype) for name in program.outputs}
    return function.vjp(*args.values(), cotangents=cotangents)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("program", CONSTRUCTS, ids=lambda program: program.name)
def test_gradients_agree_with_any_number_of_threads(program: Program) -> None:
    function, seed = compiled(program), secrets.randbits(31)
    function(*program.make(np.random.default_rng(seed)).values())
    found = {}
    for count in TEAMS:
        set_threads(count)
        found[count] = gradient(function, program, seed)
    set_threads(TEAMS[1])
    for count in TEAMS[1:]:
        for name, one in found[1].items():
            for there, here in zip(numbers(found[count][name]), numbers(one), strict=True):
                np.testing.assert_allclose(there, here, rtol=1e-11, atol=1e-11, err_msg=f"{count} threads, seed {seed}")


@pytest.mark.usefixtures("toolchain")
def test_an_exception_of_the_primal_is_an_error_of_the_call() -> None:
    function = adgen.compile(FOLDER / "openmp_constructs.cpp", function="checked")
    assert isinstance(function, Function)
    for call in (function, function.vjp):
        with pytest.raises(adgen.PrimalError, match="the norm is too large"):
            call(np.full(5, 1e3), 5)
