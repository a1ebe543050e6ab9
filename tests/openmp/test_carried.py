"""What a loop carries on by a choice or a division is used in each iteration: each sends its cotangent back."""

from __future__ import annotations

import secrets
from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

KERNELS = ("running_maximum", "repeated_division", "chosen_record", "drawdown", "kept_without_a_value")
FUNCTIONS = ("running_maximum", "repeated_division", "drawdown")
_COUNT, _STEPS = 5, 9


@pytest.fixture(scope="module")
def kernels() -> Module:
    return adgen.compile(Path(__file__).with_name("carried.cu"))


@pytest.fixture(scope="module")
def functions() -> Module:
    return adgen.compile(Path(__file__).with_name("carried.cpp"))


def subject(module: Module, name: str) -> adgen.Kernel | adgen.Function:
    found = module[name]
    assert isinstance(found, adgen.Kernel | adgen.Function)
    return found


def check(called: adgen.Kernel | adgen.Function) -> None:
    seed = secrets.randbits(31)
    x = np.random.default_rng(seed).uniform(0.4, 1.2, (_COUNT, _STEPS))
    subject = called.check[1, _COUNT] if isinstance(called, adgen.Kernel) else called.check
    result = subject(x, np.zeros_like(x), _COUNT, _STEPS, seed=seed)
    assert all(parameter.difference for parameter in result.parameters if parameter.name == "x")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", KERNELS)
def test_kernel(kernels: Module, name: str) -> None:
    check(subject(kernels, name))


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(functions: Module, name: str) -> None:
    check(subject(functions, name))
