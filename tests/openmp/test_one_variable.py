"""Kernels that Enzyme cannot do at once, because they read one variable, are done one after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen


@pytest.mark.usefixtures("toolchain")
def test_gradients() -> None:
    module = adgen.compile(Path(__file__).with_name("one_variable.cu"))
    assert isinstance(module, adgen.Module)
    x = np.random.default_rng(1).uniform(0.5, 1, 6).astype(np.float32)
    for kernel, last in ((module["sampled"], 0.125), (module["attracted"], 6)):
        assert isinstance(kernel, adgen.Kernel)
        kernel.variables["grid"] = np.array((6, 1.5, 0.25), kernel.variables["grid"].dtype)
        kernel.check[1, 6](x, np.zeros_like(x), last)
