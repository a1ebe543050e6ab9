"""Memory behind a condition is not touched by the gradient either, where the condition does not hold."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

FILE = Path(__file__).with_name("guarded_reads.cu")
KERNELS = ("skipped", "chosen", "followed", "nested")

AT = np.array([0, 1, 2, -1, 3, -2_000_000_000, 1, 2, 0], np.int32)
MARK = np.array([1, 2, 0, 3, 4, 1, 1, 2, 0], np.int32)


def check(kernel: str, seed: int) -> None:
    """Ends the process with a signal where memory is read that is not there."""
    n = len(AT)
    x = np.random.default_rng(seed).uniform(0.3, 0.6, n)
    compiled = adgen.compile(FILE)[kernel]
    assert isinstance(compiled, adgen.Kernel)
    compiled.check[1, n](x, AT, MARK, np.zeros(n), n, seed=seed)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient(kernel: str) -> None:
    script = f"from openmp.test_guarded_reads import check; check({kernel!r}, 3)"
    roots = os.pathsep.join(str(folder) for folder in (FILE.parents[1], FILE.parents[2]))
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": roots},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
