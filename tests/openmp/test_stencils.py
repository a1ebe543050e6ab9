"""Gradients of loops that read neighbours, of few and of many cells, with and without parted additions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openmp.compile_support import compiled_without

import enzyme_driver as adgen
from enzyme_driver.runtime.backends.teams import threads
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.module import Module

FILE = Path(__file__).with_name("stencils.cpp")
NAMES = ("smooth", "diffusion", "sweep", "waves", "shifted", "product", "membrane", "grids", "relaxed", "plate", "box")
LENGTHS = (3, 17, 18, 258, 259, 515)
"""Of rows with one inner cell, one less than are parted, as many, a round of 256, one more, and two rounds."""


@pytest.fixture(scope="module")
def module() -> Module:
    return adgen.compile(FILE)


@pytest.fixture(scope="module")
def without() -> Module:
    return compiled_without("distribute-additions", FILE)


@pytest.fixture(scope="module")
def divided() -> Module:
    return compiled_without("nest-collapsed-loops", FILE)


def arguments(name: str, n: int, seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return {
        "smooth": (x, np.zeros(n), n),
        "diffusion": (rng.uniform(0, 1, (7, n)).astype(np.float32), n, 7, 4, np.float32(0.1)),
        "sweep": (x, n),
        "membrane": (rng.uniform(-1, 1, (6, n)), rng.uniform(0.1, 0.2, (6, n)), n, 6, 5),
        "grids": (rng.uniform(-1, 1, (6, n)), rng.uniform(0.1, 0.2, (6, n)), n, 6, 3),
        "plate": (rng.uniform(-1, 1, (6, n)), rng.uniform(0.1, 0.2, (6, n)), n, 6, 4),
        "box": (rng.uniform(-1, 1, (4, 3, n)), rng.uniform(-1, 1, max(n, 4)), np.zeros((4, 3, n)), n, 3, 4),
        "relaxed": (x, n, 5),
        "waves": (x, rng.uniform(0.1, 0.4, n), n, 5),
        "shifted": (x, n, seed % 5),
        "product": (*(rng.uniform(0, 1, shape).astype(np.float32) for shape in ((5, 5), (5, n), (5, n))), 5, n),
    }[name]


def gradients(module: Module, name: str, args: tuple[Any, ...]) -> dict[str, np.ndarray]:
    function = module[name]
    assert isinstance(function, Function)
    arrays = [p.name for p in function.signature if p.activity == "duplicated"]
    given = dict(zip((p.name for p in function.signature), args, strict=True))
    shadows = {each: np.full_like(given[each], 0.5) for each in arrays}
    function.gradient(*args, shadows=shadows)
    return shadows


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("team", [1, 2, 7])
def test_gradient(module: Module, name: str, team: int) -> None:
    with threads(team):
        module[name].check(*arguments(name, 40, int(np.random.default_rng().integers(100))))


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("n", [1, 2, 3, 40, 258])
@pytest.mark.parametrize("name", ["plate", "box"])
@pytest.mark.parametrize("team", [1, 2, 7])
def test_by_rows_or_by_divisions(module: Module, divided: Module, name: str, n: int, team: int) -> None:
    seed = int(np.random.default_rng().integers(2**31))
    with threads(team):
        rows = gradients(module, name, arguments(name, n, seed))
    whole = gradients(divided, name, arguments(name, n, seed))
    for array, expected in whole.items():
        np.testing.assert_allclose(rows[array], expected, rtol=1e-12, atol=1e-12, err_msg=f"{array}, seed {seed}")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("name", NAMES)
def test_parted_or_not(module: Module, without: Module, name: str, n: int) -> None:
    seed = int(np.random.default_rng().integers(2**31))
    with threads(2):
        parted = gradients(module, name, arguments(name, n, seed))
    whole = gradients(without, name, arguments(name, n, seed))
    for array, expected in whole.items():
        digits = 1e-5 if expected.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(
            parted[array], expected, rtol=digits, atol=digits, err_msg=f"{array}, n {n}, seed {seed}"
        )
