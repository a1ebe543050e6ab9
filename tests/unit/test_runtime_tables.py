"""Parameters that point to pointers: given as the list of the arrays that they lead to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from runtime_support import F64, I32, kernel, pointer

from enzyme_driver.errors import ArgumentError, RefusedError
from enzyme_driver.model import DataType, Parameter, StructField
from enzyme_driver.runtime.call.arguments import Arguments
from enzyme_driver.runtime.call.members import assembled, flattened, given
from enzyme_driver.runtime.transforms.vjp import Vjp

_ROW = DataType("pointer", "pointer", 8, pointee=F64)
_ROWS = replace(pointer("rows", F64), dtype=_ROW, writes=False)
_READ = replace(_ROWS, dtype=replace(_ROW, const=True))
_PLANES = DataType(
    "Planes", "struct", 16, (StructField("at", 0, replace(_ROW, pointee=_ROW)), StructField("n", 8, I32))
)


def _given() -> list[Any]:
    return [np.arange(3.0), np.ones(2), None]


def _arguments(rows: Parameter = _ROWS) -> Arguments:
    return Arguments(kernel("k", rows, pointer("x", F64)), "openmp")


def _table(data: bytes, length: int) -> list[int]:
    import ctypes

    return list((ctypes.c_uint64 * length).from_address(int.from_bytes(data, "little")))


def test_each_row_is_a_parameter() -> None:
    flat = {parameter.name: parameter for parameter, _ in flattened(_ROWS, _given())}
    assert list(flat) == ["rows[0]", "rows[1]", "rows[2]"]
    assert all(each.has_shadow and each.writes and each.dtype is F64 for each in flat.values())
    assert not any(each.writes for each, _ in flattened(_READ, _given()))
    assert not any(each.has_shadow for each, _ in flattened(replace(_ROWS, activity="const"), _given()))


def test_a_list_is_taken_apart_and_put_together() -> None:
    value = _given()
    flat = {parameter.name: item for parameter, item in flattened(_ROWS, value)}
    assert assembled(_ROWS, flat) == value
    assert list(given(_ROWS, value)) == ["rows[0]", "rows[1]"]
    assert assembled(_ROWS, {"rows[2]": 1}) == [None, None, 1]


def test_the_table_holds_the_addresses_of_the_rows_and_of_their_shadows() -> None:
    rows, shadows = _given(), [np.zeros(3), np.zeros(2)]
    prepared = _arguments().gradient([rows, np.ones(1)], {"rows": shadows, "x": np.zeros(1)})
    assert _table(prepared.values[0], 3) == [rows[0].ctypes.data, rows[1].ctypes.data, 0]
    assert _table(prepared.values[2], 3) == [*(each.ctypes.data for each in shadows), 0]


def test_a_table_in_a_struct() -> None:
    struct = Parameter("p", "struct", _PLANES, const=True, activity="duplicated", writes=False)
    value: dict[str, Any] = {"at": [np.ones(2), np.ones(3)], "n": 2}
    flat = {parameter.name: item for parameter, item in flattened(struct, value)}
    assert list(flat) == ["p.at[0]", "p.at[1]", "p.n"]
    assert assembled(struct, flat) == value
    arguments = Arguments(kernel("k", struct), "openmp")
    shadows = [np.zeros(2), np.zeros(3)]
    prepared = arguments.gradient([value], {"p": {"at": shadows}})
    assert _table(prepared.values[0][:8], 2) == [each.ctypes.data for each in value["at"]]
    assert _table(prepared.values[1][:8], 2) == [each.ctypes.data for each in shadows]
    assert prepared.values[1][8:12] == (2).to_bytes(4, "little")


@pytest.mark.parametrize(
    "shadows", [[np.zeros(3)], [np.zeros(3), np.zeros(5)], [np.zeros(3)] * 4, np.zeros(3)], ids=str
)
def test_shadows_fit_their_rows(shadows: Any) -> None:  # noqa: ANN401
    with pytest.raises(ArgumentError, match=r"rows"):
        _arguments().gradient([_given(), np.ones(1)], {"rows": shadows, "x": np.zeros(1)})


@pytest.mark.parametrize("table", [np.zeros(3, np.uint64), None, 3], ids=str)
def test_what_has_a_derivative_is_no_table_of_addresses(table: object) -> None:
    with pytest.raises(ArgumentError, match=r"expected a list of float64 arrays in host memory"):
        _arguments().primal([table, np.ones(1)])


def test_rows_that_are_written_share_no_memory() -> None:
    row = np.ones(3)
    with pytest.raises(ArgumentError, match=r"'rows\[0\]' and 'rows\[1\]' .* share memory"):
        _arguments().gradient([[row, row], np.ones(1)], {"rows": [np.zeros(3), np.zeros(3)], "x": np.zeros(1)})
    shadow = np.zeros(3)
    with pytest.raises(ArgumentError, match=r"shadow 'rows\[1\]' .* shares memory with shadow 'rows\[0\]'"):
        _arguments(_READ).gradient([[row, row], np.ones(1)], {"rows": [shadow, shadow], "x": np.zeros(1)})


def test_a_tape_does_not_follow_tables() -> None:
    with pytest.raises(RefusedError, match="tape cannot follow the pointers in 'rows'"):
        _arguments().recorded([[np.ones(3)], np.ones(1)])


def _vjp(**asked: Any) -> dict[str, Any]:  # noqa: ANN401
    def gradient(arguments: Any, shadows: Any) -> None:  # noqa: ANN401
        for row, shadow in zip(arguments[0], shadows["rows"], strict=False):
            if row is not None:
                shadow[:] = shadow + 2 * row

    return Vjp(_arguments(), [_given(), np.ones(1)], **asked).run(gradient, None)


def test_the_gradient_of_a_table_is_a_list() -> None:
    found = _vjp(cotangents={"rows": [None, np.ones(2)]}, wrt=("rows", "rows[1]"))
    np.testing.assert_array_equal(found["rows"][0], [0, 2, 4])
    np.testing.assert_array_equal(found["rows"][1], [3, 3])
    assert found["rows[1]"] is found["rows"][1]


@pytest.mark.parametrize("asked", [{"wrt": "rows[3]"}, {"cotangents": {"rows[3]": np.ones(2)}}], ids=str)
def test_a_row_that_is_not_there(asked: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=r"'rows\[3\]': the table has fewer rows"):
        _vjp(**{"cotangents": None, "wrt": None} | asked)
