"""ThreadSanitizer sees no race in gradients; `python -m races` looks at all of them."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest
from races.look import races
from races.subjects import RACY, subjects

SAMPLE = (
    "openmp_constructs-critical_sections",
    "openmp_constructs-many_reductions",
    "openmp_constructs-one_region_many_steps",
    "openmp_constructs-privates-start-active",
    "benchmark-hydro",
    "stencils-membrane",
    "stencils-grids",
    "kernel-histogram-deposit",
    "kernel-softmax_rows-softmax",
    "kernel-heat3d-heat3d",
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("races")


@pytest.mark.usefixtures("toolchain")
def test_a_race_is_found(scratch: Path) -> None:
    reports = races(RACY, 0, scratch)
    assert reports
    assert all("racy.cpp:7" in report for report in reports)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", SAMPLE)
def test_gradients_do_not_race(scratch: Path, name: str) -> None:
    seed = secrets.randbits(31)
    assert races(subjects()[name], seed, scratch) == [], f"seed {seed}"
