"""Means and variances by Welford's method have the derivatives of sums."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openmp.compile_support import compiled_without, kernel

import enzyme_driver as adgen
from enzyme_driver import pipeline, request
from enzyme_driver.settings import Settings

FILE = Path(__file__).parents[1] / "programs" / "welford_norm.cu"
SWITCH, NORM = "split-moments", "channel_norm"
SAMPLES, CHANNELS = 40, 5
STEP = 1e-5
SHUFFLES = {"channel_norm": 0, "row_norm": 2, "half_norm": 10, "spread": 2}
"""How many shuffles of each kernel send nothing but cotangents."""


def arguments(random: np.random.Generator) -> tuple[Any, ...]:
    x = 2 + random.standard_normal((SAMPLES, CHANNELS))
    return x, np.zeros_like(x), np.zeros(CHANNELS), np.zeros(CHANNELS), SAMPLES, CHANNELS, 1e-5


def cotangents(random: np.random.Generator) -> dict[str, Any]:
    of_channels = {name: random.standard_normal(CHANNELS) for name in ("mean_out", "scale_out")}
    return {"y": random.standard_normal((SAMPLES, CHANNELS)), **of_channels}


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", SHUFFLES)
def test_no_mean_that_a_loop_carries_has_a_derivative(name: str) -> None:
    asked = request.new(FILE, names=[name])
    text = pipeline.emit(asked, "prepared", settings=Settings.from_environment())
    assert len(re.findall(r"call (?:float|double) @adgen_settled_f", text)) == 2
    assert len(re.findall(r"call void @adgen_rule_shfl_back_", text)) == SHUFFLES[name]


@pytest.mark.usefixtures("toolchain")
def test_values_and_gradients_are_those_of_the_recurrence() -> None:
    seed = secrets.randbits(31)

    def gradient(module: adgen.Module) -> np.ndarray[Any, Any]:
        random = np.random.default_rng(seed)
        args = arguments(random)
        return np.asarray(kernel(module, NORM).vjp[1, 32](*args, cotangents=cotangents(random), wrt=("x",))["x"])

    np.testing.assert_allclose(
        gradient(adgen.compile(FILE)), gradient(compiled_without(SWITCH, FILE)), rtol=1e-9, atol=1e-11
    )


@pytest.mark.usefixtures("toolchain")
def test_second_derivatives_are_those_of_the_recurrence() -> None:
    random = np.random.default_rng(secrets.randbits(31))
    norm = adgen.compile(FILE, kernel=NORM, modes=["second"])
    args, weights, direction = arguments(random), cotangents(random), random.standard_normal((SAMPLES, CHANNELS))

    def gradient(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.asarray(norm.vjp[1, 32](x, *args[1:], cotangents=weights, wrt=("x",))["x"])

    expected = (gradient(args[0] + STEP * direction) - gradient(args[0] - STEP * direction)) / (2 * STEP)
    found = norm.hvp[1, 32](*args, cotangents=weights, tangents={"x": direction}, wrt=("x",))
    np.testing.assert_allclose(found["x"], expected, rtol=1e-5, atol=1e-7)
