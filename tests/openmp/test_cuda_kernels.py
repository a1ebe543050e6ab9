"""Every kernel of the collection on the OpenMP target, on fresh random arguments."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import numpy as np
import pytest

import enzyme_driver as adgen
from cuda_kernels.case import FOLDER, Array, Case
from cuda_kernels.check import problem, run_case, tolerance, vjp_error
from cuda_kernels.places import Host
from cuda_kernels.suite import CASES, by_name


def compiled(case: Case) -> adgen.Kernel:
    return adgen.compile(case.path, kernel=case.kernel, target="openmp", activity=case.activity)


@pytest.fixture
def seed() -> int:
    return secrets.randbits(31)


OF_POINTERS = ("struct_of_arrays.cu", "xs_struct.cu", "multipole_struct.cu")
"""Files whose kernels take a struct of pointers, of which `vjp` needs the members."""


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_primal_and_gradient(case: Case, seed: int) -> None:
    kernel = compiled(case)
    assert kernel.signature.names == tuple(problem(case, seed).args)
    outcome = run_case(kernel, case, Host(), seed)
    assert outcome.primal_error <= tolerance(case), f"seed {seed}"
    assert outcome.gradient_error <= tolerance(case), f"seed {seed}"


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("case", [c for c in CASES if c.file not in OF_POINTERS], ids=lambda c: c.name)
def test_vjp_agrees_with_the_gradient(case: Case, seed: int) -> None:
    assert vjp_error(compiled(case), case, Host(), seed) <= tolerance(case), f"seed {seed}"


def test_every_file_has_a_case() -> None:
    assert {case.file for case in CASES} == {path.name for path in FOLDER.glob("*.cu")}
    assert len(by_name()) == len(CASES)


class HandMade:
    """The elementwise kernel in NumPy, with a gradient that is off by `fault` in one element."""

    def __init__(self, fault: float) -> None:
        self.fault = fault
        self.gradient = self

    def __getitem__(self, launch: object) -> Callable[..., None]:
        return self._call

    def _call(self, x: Array, w: Array, y: Array, n: int, shadows: dict[str, Array] | None = None) -> None:
        y[:n] = np.sin(x) * w + np.exp(x)
        if shadows is not None:
            shadows["x"] += shadows["y"] * (np.cos(x) * w + np.exp(x))
            shadows["w"] += shadows["y"] * np.sin(x)
            shadows["w"][3] += self.fault
            shadows["y"][:] = 0.0


def test_the_check_passes_a_right_gradient_and_fails_a_wrong_one(seed: int) -> None:
    case = by_name()["elementwise-elementwise"]
    assert run_case(HandMade(0.0), case, Host(), seed).gradient_error <= tolerance(case)
    assert run_case(HandMade(0.5), case, Host(), 1).gradient_error > 10.0 * tolerance(case)
