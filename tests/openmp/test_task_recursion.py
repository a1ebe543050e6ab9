"""Tasks of a function that calls itself: Enzyme had ended with an assertion where the function is an entry, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import function

import enzyme_driver as adgen

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("task_recursion.cpp")
N = 13


@pytest.mark.parametrize("name", ["halved", "from_a_team"])
def test_gradients_are_right(name: str) -> None:
    x = np.random.default_rng(3).uniform(0.4, 1.6, N)
    function(adgen.compile(FILE), name).check(x, N)
