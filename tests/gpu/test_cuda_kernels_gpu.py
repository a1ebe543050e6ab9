"""Every kernel of the collection on the GPU, and against the OpenMP target."""

from __future__ import annotations

import secrets

import pytest

import enzyme_driver as adgen
from cuda_kernels.case import Case
from cuda_kernels.check import difference, run_case, tolerance
from cuda_kernels.places import Gpu, Host
from cuda_kernels.suite import CASES

pytest.importorskip("cupy")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_primal_and_gradient(case: Case) -> None:
    seed = secrets.randbits(31)
    kernel = adgen.compile(case.path, kernel=case.kernel, target="cuda", activity=case.activity)
    outcome = run_case(kernel, case, Gpu(), seed)
    assert outcome.primal_error <= tolerance(case), f"seed {seed}"
    assert outcome.gradient_error <= tolerance(case), f"seed {seed}"


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_same_gradient_on_both_targets(case: Case) -> None:
    seed = secrets.randbits(31)
    device = adgen.compile(case.path, kernel=case.kernel, target="cuda", activity=case.activity)
    host = adgen.compile(case.path, kernel=case.kernel, target="openmp", activity=case.activity)
    there, here = run_case(device, case, Gpu(), seed), run_case(host, case, Host(), seed)
    assert difference(there.shadows, here.shadows) <= tolerance(case), f"seed {seed}"
