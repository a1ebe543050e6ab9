"""Small kernels in ways in which others write such code: each gradient is compared with finite differences."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("idioms.cu")
N = 24


def drawn(dtype: Any, *shape: int) -> Any:  # noqa: ANN401
    return np.random.default_rng(5).uniform(0.4, 1.6, shape or N).astype(dtype)


ARGUMENTS: Mapping[str, tuple[Any, ...]] = {
    "blurred": (drawn("f4"), np.zeros(N, "f4"), N),
    "by_exponent": (drawn("f8"), np.zeros(N), N),
    "in_circles": (drawn("f8"), np.zeros(N), N),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_gradients_are_right(name: str) -> None:
    adgen.compile(FILE, name).check[1, N](*ARGUMENTS[name])


@pytest.mark.parametrize("name", ["by_bytes", "by_halves"])
def test_numbers_that_are_moved_in_parts_are_refused(name: str) -> None:
    with pytest.raises(adgen.RefusedError, match=r"idioms.cu:\d+:\d+: .* floating point that is moved in parts"):
        adgen.compile(FILE, name)
