"""Threads that race are named, with both places; what is ordered, or stores the same, is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver import cli

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("raced.cu")
Array = np.ndarray[Any, np.dtype[np.float32]]


@pytest.fixture(autouse=True)
def default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADGEN_VERIFY")


@pytest.fixture(scope="module")
def kernels() -> adgen.Module:
    return adgen.compile(FILE, verify="always", cache=False)


def draw(count: int) -> Array:
    return np.random.default_rng(3).normal(size=count).astype(np.float32)


def zeros(count: int) -> Array:
    return np.zeros(count, np.float32)


Launch = tuple[int, int]
Make = Callable[[], tuple[Any, ...]]

RACES: dict[str, tuple[Launch, Make, int, str]] = {
    "different": ((2, 32), lambda: (draw(64), zeros(2)), 5, r"stores another value to an element of 'y'.*\(line 5\)"),
    "transposed": ((1, 32), lambda: (draw(1024), zeros(1024)), 19, r"element of shared memory.*reads \(line 20\)"),
    "in_turn": (
        (1, 32),
        lambda: (draw(32), zeros(8)),
        34,
        r"reads an element of 'y' that thread 0 stores to \(line 32\)",
    ),
    "shifted": ((1, 32), lambda: (draw(33),), 44, r"stores to an element of 'x' that thread 0 reads \(line 38\)"),
    "tiles": ((1, 64), lambda: (draw(128), zeros(64), 128), 60, r"thread 0 stores to \(line 58\)"),
}


@pytest.mark.parametrize("name", RACES)
def test_named(kernels: adgen.Module, name: str) -> None:
    launch, make, line, words = RACES[name]
    kernel, args = kernels[name], make()
    assert isinstance(kernel, adgen.Kernel)
    with pytest.raises(adgen.DataRaceError, match=words) as caught:
        kernel.vjp[launch](*args, cotangents={})
    assert caught.value.location
    assert (caught.value.location.file, caught.value.location.line) == (str(FILE), line)


ORDERED: dict[str, tuple[Launch, Make]] = {
    "same": ((2, 32), lambda: (draw(64), zeros(66))),
    "transposed_by_a_warp": ((1, 32), lambda: (draw(1024), zeros(1024))),
    "shifted_in_two": ((1, 32), lambda: (draw(33),)),
    "tree": ((3, 64), lambda: (draw(192), zeros(3))),
    "tree_with_a_volatile_warp": ((3, 64), lambda: (draw(192), zeros(3))),
    "added": ((3, 32), lambda: (draw(96), zeros(2))),
    "local_arrays": ((2, 32), lambda: (draw(64), zeros(64))),
}


@pytest.mark.parametrize("name", ORDERED)
def test_no_race(kernels: adgen.Module, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    launch, make = ORDERED[name]
    kernel, args = kernels[name], make()
    assert isinstance(kernel, adgen.Kernel)
    kernel.vjp[launch](*args, cotangents={})
    assert capsys.readouterr().err == ""


def test_check_names_a_race(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--grid", "2", "--block", "32", "-t", "openmp", "--arg", "x=normal:f32:64", "--arg", "y=zeros:f32:2"]
    assert cli.run(["check", str(FILE), "-k", "different", *words]) == adgen.DataRaceError.exit_code
    said = capsys.readouterr()
    assert "the kernel has a race" in said.out
    assert f"{FILE}:5" in said.err
