"""Memory that the threads of a team allocate: each adds to the shadows of its own, all to those of the others'."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.backends.teams import threads
from enzyme_driver.runtime.module import Module

FILE = Path(__file__).with_name("team_memory.cpp")
SIZE = 7


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE, verify="never")


@pytest.mark.parametrize("name", ["own", "rows", "neighbours"])
@pytest.mark.parametrize("team", [1, 2, 4])
def test_gradients_of_what_threads_allocate(module: Module, name: str, team: int) -> None:
    with threads(team):
        module[name].check(np.random.default_rng(team).uniform(0.3, 1.5, SIZE), SIZE, seed=team)
