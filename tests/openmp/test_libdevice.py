"""Device mathematics on the OpenMP target: every function of the table, on fresh random points."""

from __future__ import annotations

import secrets
from pathlib import Path

import numpy as np
import pytest
from libdevice_document import PAGE, introduction
from libdevice_judge import Computed, compute, load, save
from libdevice_support import Outcome, Trial, files, judge, problem, source, trials
from libdevice_table import FUNCTIONS

import enzyme_driver as adgen
from cuda_kernels.places import Host

FILES = files(trials(FUNCTIONS))

REFUSED = {"half", "bits"}
"""Groups in which a gradient may be refused, but not be wrong."""


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("stem", [stem for stem in FILES if not stem.startswith("half")])
def test_gradients(stem: str, tmp_path: Path) -> None:
    path = tmp_path / f"{stem}.cu"
    path.write_text(source(FILES[stem]), encoding="utf-8")
    module = adgen.compile(path, cache=False)
    seed = secrets.randbits(31)
    rng = np.random.default_rng(seed)
    found = [_attempt(trial, module, rng) for trial in FILES[stem]]
    allowed = {"right", "refused"} if FILES[stem][0].function.group in REFUSED else {"right"}
    assert not [str(outcome) for outcome in found if outcome.word not in allowed], f"seed {seed}"


def _attempt(trial: Trial, module: adgen.Module, rng: np.random.Generator) -> Outcome:
    given = problem(trial, rng)
    try:
        return judge(trial, given, compute(module[trial.kernel], given, Host()))
    except adgen.RefusedError as refusal:
        return Outcome(trial, fast_math=False, tolerance=given.tolerance, refused=refusal.reason)


def test_a_wrong_slope_is_seen() -> None:
    trial = trials(FUNCTIONS)[0]
    given = problem(trial, np.random.default_rng(1))
    exact = [slope * given.cotangents for slope in given.slopes]
    assert judge(trial, given, Computed(given.values, exact)).right
    exact[0][5] *= 1.001
    assert judge(trial, given, Computed(given.values, exact)).word == "WRONG"
    exact[0][5] = np.nan
    assert judge(trial, given, Computed(given.values * 1.001, exact)).word == "WRONG"
    assert judge(trial, given, Computed(given.values, exact)).word == "WRONG"


def test_the_page_says_what_was_found_on_a_gpu() -> None:
    assert PAGE.read_text(encoding="utf-8").startswith(introduction()), "run tests/libdevice_document.py"


def test_problems_travel(tmp_path: Path) -> None:
    trial = trials(FUNCTIONS)[0]
    given = problem(trial, np.random.default_rng(1), fast_math=True)
    save({trial.kernel: given}, tmp_path / "problems.npz")
    found = load(tmp_path / "problems.npz")[trial.kernel]
    assert found.tolerance == given.tolerance
    assert found.cotangents.dtype == np.float32
    np.testing.assert_array_equal(found.points, given.points)
    np.testing.assert_array_equal(found.slopes, given.slopes)
