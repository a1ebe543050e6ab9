"""Queues and stacks of the standard library: Enzyme manages at once, where it had been stopped after a minute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.compile_support import function

import enzyme_driver as adgen
from enzyme_driver.errors import AdgenError

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("deques.cpp")


def _only_once(prepared: object, entries: object, workspace: object, failure: AdgenError, step: object) -> AdgenError:
    del prepared, entries, workspace, step
    return failure


def test_gradients_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enzyme_driver.stages.differentiate._attempt_otherwise", _only_once)
    module = adgen.compile(FILE)
    x = np.random.default_rng(6).uniform(0.2, 1.5, 20)
    function(module, "largest_in_windows").check(x, 20, 4)
    function(module, "computed").check(x, np.array([0, 1, 5, 2, 4, 3, 0, 5], np.int32), 8)
