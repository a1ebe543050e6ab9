"""The C++ programs that are measured have right gradients."""

from __future__ import annotations

import numpy as np
import pytest

import enzyme_driver as adgen
from benchmarks.host_cases import CASES, FITS, FOLDER, HostCase
from enzyme_driver.runtime.function import Function

DIGITS = {"docking": 3e-2, "docking, all inputs": 3e-2}
"""Single precision, and energies of pairs that jump where a cut-off begins."""


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("case", [*CASES, *FITS], ids=lambda case: case.name)
def test_gradient(case: HostCase) -> None:
    function = adgen.compile(FOLDER / case.file, function=case.function, activity=case.activity)
    assert isinstance(function, Function)
    function.check(*case.small(np.random.default_rng(3)).values(), tolerance=DIGITS.get(case.name))


@pytest.mark.usefixtures("toolchain")
def test_a_gradient_leaves_const_arrays_alone() -> None:
    (case,) = [case for case in CASES if case.name == "docking"]
    function = adgen.compile(FOLDER / case.file, function=case.function, activity=case.activity)
    args = case.small(np.random.default_rng())
    args["poses"][0] = 0
    for name in "xyz":  # one pair at least is near enough to each other
        args["protein"][name][0] = args["ligand"][name][0] + 1
    before = {name: args[name].copy() for name in case.activity}
    shadows = {p.name: np.zeros_like(args[p.name]) for p in function.signature if p.activity == "duplicated"}
    shadows["energies"][...] = 1
    function.gradient(*args.values(), shadows=shadows)
    assert any(shadows["protein"][name].any() for name in "xyz")
    for name, array in before.items():
        np.testing.assert_array_equal(args[name], array)
