"""Gradients of operators that verify themselves at the first backward."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.frameworks.code import HOST
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.module import standing_for
from enzyme_driver.runtime.transforms.guard import VERDICTS
from enzyme_driver.settings import Settings
from enzyme_driver.verification import witness_of

pytestmark = pytest.mark.usefixtures("toolchain")
FILE = Path(__file__).with_name("verified.cu")
COUNT = 64
LOOKED: list[str] = []


@pytest.fixture(autouse=True)
def _as_users_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADGEN_VERIFY")


@pytest.fixture
def with_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user says of functions has no witness; here it has that of the file."""
    from enzyme_driver import request

    plain = {each.name: each for each in adgen.compile(FILE, verify="never")}

    def made(subject: Kernel | Function, *_: object, **__: object) -> Kernel | Function:
        LOOKED.append(subject.name)
        found = witness_of(plain[subject.name], request.new(FILE), Settings.from_environment(), use_cache=True)
        return standing_for(found, subject)

    LOOKED.clear()
    monkeypatch.setattr("enzyme_driver.verification.witness_of", made)


def twice(first: str, second: str, name: str, **options: Any) -> adgen.Operator:
    """One kernel's result through another."""

    def describe(launch: Any, x: Any) -> Any:
        between, y = launch.empty_like(x), launch.empty_like(x)
        launch(grid=COUNT // 32, block=32, args=(x, between), kernel=first)
        return launch(grid=COUNT // 32, block=32, args=(between, y), outputs=y, kernel=second)

    return adgen.operator(FILE, name=name, **options)(describe)


def wrong(name: str) -> adgen.Operator:
    """Its second launch has a wrong derivative in element 41."""
    return twice("square", "planted", name, derivatives={"odd": "wrong_slope"})


def numbers() -> Any:
    return np.random.default_rng(1).normal(size=COUNT).astype(np.float32)


@pytest.mark.usefixtures("with_witness")
def test_plain_arrays() -> None:
    with pytest.raises(adgen.GradientMismatchError, match="planted"):
        wrong("wrong_plain").vjp(numbers(), cotangents=np.ones(COUNT, np.float32))


@pytest.mark.usefixtures("with_witness")
def test_what_is_right_is_looked_at_once() -> None:
    operator = twice("square", "square", "right_plain", derivatives={"odd": "wrong_slope"})
    verdicts = operator.code.unit("square", HOST).artifact.folder / VERDICTS
    verdicts.unlink(missing_ok=True)  # of another run
    x = numbers()
    for _ in range(2):
        found = operator.vjp(x, cotangents=np.ones(COUNT, np.float32))
        np.testing.assert_allclose(found["x"], 4 * x**3, rtol=1e-5)
    assert LOOKED == ["square"]
    assert list(json.loads(verdicts.read_text()).values()) == ["right"]


@pytest.mark.usefixtures("with_witness")
def test_jax_outside_of_jit() -> None:
    jax: Any = pytest.importorskip("jax", reason="JAX is not installed")
    operator = wrong("wrong_jax")
    with pytest.raises(adgen.GradientMismatchError, match="planted"):
        jax.grad(lambda x: operator.jax(x).sum())(jax.numpy.asarray(numbers()))


@pytest.mark.usefixtures("with_witness")
def test_torch() -> None:
    torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")
    operator = wrong("wrong_torch")
    x = torch.tensor(numbers(), requires_grad=True)
    y = operator.torch(x)
    with pytest.raises(adgen.GradientMismatchError, match="planted"):
        y.sum().backward()


@pytest.mark.usefixtures("with_witness")
def test_not_where_it_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADGEN_VERIFY", "never")
    wrong("wrong_unseen").vjp(numbers(), cotangents=np.ones(COUNT, np.float32))
    assert not LOOKED
