"""Sums that are rescaled by their largest exponent: they get a loop of their own, and the gradient is right."""

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
from enzyme_driver.runtime.module import Module
from enzyme_driver.settings import Settings

HERE = Path(__file__).parent
SWITCH = "split-online-sums"
ROWS, LENGTH = 7, 40
SPLIT = {"softmax": 1, "logarithm": 2, "attention": 1, "partial": 0}
"""How many loops of sums each kernel gets."""


def arguments(name: str, random: np.random.Generator, length: int = LENGTH) -> tuple[Any, ...]:
    """In the order of the kernel's parameters, outputs included."""

    def draw(*shape: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        return 3 * random.standard_normal(shape)

    y = np.zeros(ROWS)
    return {
        "softmax": (ROWS, length, draw(ROWS, length), 0.7, np.zeros((ROWS, length))),
        "logarithm": (ROWS, length, draw(ROWS, length), draw(ROWS, length), y),
        "attention": (ROWS, length, *(draw(count, 2) for count in (ROWS, length, length)), np.zeros((ROWS, 2)), y),
        "partial": (ROWS, length, draw(ROWS, length), y),
    }[name]


@pytest.fixture(scope="module")
def kernels() -> Module:
    return adgen.compile(HERE / "online_sums.cu")


@pytest.fixture(scope="module")
def online() -> Module:
    """The loops are reversed as they are."""
    return compiled_without(SWITCH, HERE / "online_sums.cu")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", SPLIT)
def test_sums_get_loops(name: str) -> None:
    asked = request.new(HERE / "online_sums.cu", names=[name])
    text = pipeline.emit(asked, "prepared", settings=Settings.from_environment())
    assert len(re.findall(r"^[^ ]*\.sums\d*:", text, re.MULTILINE)) == SPLIT[name]


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", SPLIT)
def test_a_kernel_is_checked_against_differences_and_the_witness(kernels: Module, name: str) -> None:
    seed = secrets.randbits(31)
    result = kernel(kernels, name).check[2, 32](*arguments(name, np.random.default_rng(seed)), seed=seed)
    assert any(parameter.difference for parameter in result.parameters)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", SPLIT)
@pytest.mark.parametrize("length", [1, 2, LENGTH])
def test_nothing_changes_but_rounding(kernels: Module, online: Module, name: str, length: int) -> None:
    random = np.random.default_rng(secrets.randbits(31))
    given = arguments(name, random, length)
    outputs = {
        parameter.name: random.standard_normal(argument.shape)
        for parameter, argument in zip(kernel(kernels, name).signature.parameters, given, strict=True)
        if parameter.name in {"y", "m"}
    }
    mine, users = (kernel(each, name).vjp[2, 32](*given, cotangents=outputs) for each in (kernels, online))
    assert mine.keys() == users.keys()
    for parameter, found in mine.items():
        np.testing.assert_allclose(found, users[parameter], rtol=1e-10, atol=1e-12)
