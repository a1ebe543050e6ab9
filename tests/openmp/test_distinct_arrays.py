"""Gradients are compiled as if their arrays were distinct: they are right where that holds, and refused elsewhere."""

from __future__ import annotations

import secrets
from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.errors import ArgumentError

SOURCE = Path(__file__).with_name("distinct_arrays.cu")
N, ROUNDS, LAUNCH = 40, 5, (2, 32)
MEMBERS = ("a", "b", "y", "z")

Struct = dict[str, np.ndarray | int]


def draw(seed: int) -> Struct:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(0.2, 0.9, N) for name in MEMBERS} | {"n": N}


@pytest.fixture(params=["", "assume-distinct-arrays"], ids=["assumed", "not assumed"])
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> adgen.Module:
    monkeypatch.setenv("ADGEN_DISABLE", request.param)
    return adgen.compile(SOURCE, target="openmp")


def kernel_of(module: adgen.Module, name: str) -> adgen.Kernel:
    found = module[name]
    assert isinstance(found, adgen.Kernel)
    return found


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", ["sums", "swapped", "either"])
def test_distinct_arrays(module: adgen.Module, name: str) -> None:
    seed = secrets.randbits(31)
    kernel_of(module, name).check[LAUNCH](draw(seed), ROUNDS, seed=seed)


@pytest.mark.usefixtures("toolchain")
def test_views_of_one_array(module: adgen.Module) -> None:
    seed = secrets.randbits(31)
    kernel_of(module, "halves").check[LAUNCH](np.random.default_rng(seed).uniform(0.2, 0.9, 2 * N), N, seed=seed)


@pytest.mark.usefixtures("toolchain")
def test_one_array_that_is_only_read_twice(module: adgen.Module) -> None:
    sums, given = kernel_of(module, "sums"), draw(secrets.randbits(31))
    apart = sums.vjp[LAUNCH](given | {"b": np.copy(given["a"])}, ROUNDS, cotangents={"s.y": np.ones(N)})
    same = sums.vjp[LAUNCH](given | {"b": given["a"]}, ROUNDS, cotangents={"s.y": np.ones(N)})
    for name in ("a", "b"):
        # Threads add in any order.
        np.testing.assert_allclose(same["s"][name], apart["s"][name], rtol=1e-13)
        assert np.abs(same["s"][name]).min() > 0.0


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize(("one", "other"), [("y", "a"), ("z", "y"), ("b", "z")])
def test_what_is_written_may_not_overlap(module: adgen.Module, one: str, other: str) -> None:
    sums, given = kernel_of(module, "sums"), draw(secrets.randbits(31))
    room = np.ones(2 * N)
    given |= {one: room[:N], other: room[N // 2 : N // 2 + N]}
    shadows = {"s": {name: np.zeros(N) for name in MEMBERS}}
    with pytest.raises(ArgumentError, match=f"'s.{min(one, other)}' and 's.{max(one, other)}'.*share memory"):
        sums.gradient[LAUNCH](given, ROUNDS, shadows=shadows)
    with pytest.raises(ArgumentError, match="share memory"):
        sums.vjp[LAUNCH](given, ROUNDS, cotangents={})
    sums[LAUNCH](given, ROUNDS)  # the primal alone may be called so
