"""The tensor operators on a GPU, on shapes and numbers drawn at random."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_support import OPERATORS, WRITE_SHADOWS, check_operator, check_whole_shadows

pytest.importorskip("cupy")

extents, wide = st.integers(1, 300), st.integers(1, 2000)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", OPERATORS)
@settings(max_examples=12)
@given(rows=extents, columns=extents, depth=extents, seed=st.integers(0, 2**31))
def test_operator(name: str, rows: int, columns: int, depth: int, seed: int) -> None:
    check_operator("cuda", name, rows, columns, depth, seed)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", WRITE_SHADOWS)
@settings(max_examples=12)
@given(rows=wide, columns=wide, seed=st.integers(0, 2**31))
def test_whole_shadows_are_written(name: str, rows: int, columns: int, seed: int) -> None:
    check_whole_shadows("cuda", name, rows, columns, seed)
