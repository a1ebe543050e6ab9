"""Gradients verify themselves on the GPU, whose own memory is asked, and what was found is remembered."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.transforms.guard import VERDICTS

FILE = Path(__file__).parents[1] / "openmp" / "verified.cu"


@pytest.mark.usefixtures("toolchain")
def test_first_call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cupy = pytest.importorskip("cupy")
    monkeypatch.delenv("ADGEN_VERIFY")
    kernel = adgen.compile(FILE, kernel="square", target="cuda", cache=False)
    x = cupy.asarray(np.random.default_rng(1).normal(size=64).astype(np.float32))
    found = kernel.vjp[2, 32](x, cupy.zeros_like(x), cotangents={"y": cupy.ones_like(x)})
    cupy.testing.assert_allclose(found["x"], 2 * x, rtol=1e-6)
    assert capsys.readouterr().err == ""
    assert kernel.guard is not None
    kept = json.loads((kernel.guard._folder / VERDICTS).read_text("utf-8"))
    assert kept == {f"{kernel.signature.symbol} on cuda {kernel.binary}": "right"}
    assert kernel.free_bytes > 0
