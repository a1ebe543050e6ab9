"""What Python cannot hand over is refused, where calling it would read what is not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver import RefusedError
from enzyme_driver.runtime.module import Module

SOURCE = Path(__file__).with_name("handed.cpp")


@pytest.fixture(scope="module")
def handed(toolchain: object) -> Module:
    del toolchain
    return adgen.compile(SOURCE)


def test_one_struct(handed: Module) -> None:
    found = handed["one"].vjp({"at": np.array([2.0, 3.0])})
    assert np.allclose(found["view"]["at"], [3, 2])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *((name, "is an array of structs that hold pointers") for name in ("several", "counted", "wrapped")),
        ("between", "an iterator of the library, which cannot be handed over"),
    ],
)
def test_what_is_refused(handed: Module, name: str, reason: str) -> None:
    del handed
    with pytest.raises(RefusedError, match=reason):
        adgen.compile(SOURCE, function=name)
