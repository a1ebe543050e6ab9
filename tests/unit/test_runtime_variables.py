"""Variables of the device, with a dictionary for their memory."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest
from runtime_support import F32, I32, kernel, pointer

from enzyme_driver.errors import ArgumentError, NameNotFoundError
from enzyme_driver.model import Activity, DataType, StructField, Target, Variable
from enzyme_driver.runtime.call.variables import Variables

_POINTER = DataType("pointer", "pointer", 8, pointee=F32)
_FLUID = DataType("Fluid", "struct", 16, (StructField("rho", 0, _POINTER), StructField("n", 8, I32)))


_MATRIX = DataType("Matrix", "struct", 16, (StructField("m", 0, F32, 4),))
_CAMERA = DataType("Camera", "struct", 20, (StructField("turn", 0, _MATRIX), StructField("width", 16, I32)))


class _Memory:
    target: Target = "openmp"

    def __init__(self) -> None:
        self.data = {"table": bytes(24), "gain": struct.pack("<f", 2.0), "fluid": bytes(16), "buffer": bytes(8)}
        self.data |= {"camera": bytes(20), "cameras": bytes(40)}

    def read_variable(self, symbol: str, size: int) -> bytes:
        return self.data[symbol][:size]

    def write_variable(self, symbol: str, data: bytes) -> None:
        assert len(data) == len(self.data[symbol])
        self.data[symbol] = data


def _made(activity: Activity = "const") -> tuple[Variables, _Memory]:
    variables = (
        Variable("table", "table", F32, (2, 3), activity),
        Variable("ns::gain", "gain", F32),
        Variable("fluid", "fluid", _FLUID, (), activity),
        Variable("buffer", "buffer", _POINTER, (), activity),
        Variable("camera", "camera", _CAMERA),
        Variable("cameras", "cameras", _CAMERA, (2,)),
    )
    memory = _Memory()
    return Variables(replace(kernel("k", pointer("x", F32)), variables=variables), memory), memory


def test_what_is_set_is_read() -> None:
    variables, _ = _made()
    table = np.arange(6, dtype=np.float32).reshape(2, 3)
    variables["table"] = table
    variables["ns::gain"] = 3
    assert np.array_equal(variables["table"], table)
    assert variables["ns::gain"] == np.float32(3)
    assert list(variables) == ["table", "ns::gain", "fluid", "buffer", "camera", "cameras"]
    variables["table"] = [[1, 2, 3], [4, 5, 6]]
    assert variables["table"][1, 2] == 6


@pytest.mark.parametrize("value", [np.zeros((2, 3)), np.zeros(6, np.float32), 1.0, "text", [[1, 2], [3]]])
def test_what_does_not_fit(value: object) -> None:
    variables, memory = _made()
    with pytest.raises(ArgumentError, match="variable 'table'"):
        variables["table"] = value
    assert memory.data["table"] == bytes(24)


def test_a_variable_that_is_not_there() -> None:
    variables, _ = _made()
    with pytest.raises(NameNotFoundError, match=r"(?s)no variable 'tabel'.*it has table"):
        variables["tabel"]
    assert "tabel" not in variables
    with pytest.raises(ArgumentError, match="cannot be deleted"):
        del variables["table"]


def test_pointers_are_set_with_arrays() -> None:
    variables, memory = _made()
    rho = np.zeros(3, np.float32)
    variables["fluid"] = {"rho": rho, "n": 3}
    variables["buffer"] = rho
    assert memory.data["fluid"] == struct.pack("<Qi4x", rho.ctypes.data, 3)
    assert memory.data["buffer"] == struct.pack("<Q", rho.ctypes.data)
    with pytest.raises(ArgumentError, match=r"variable 'fluid.rho'.*float32 array.*got float64"):
        variables["fluid"] = {"rho": np.zeros(3), "n": 3}


def _camera(*turn: float, width: int) -> bytes:
    return struct.pack("<4fi", *turn, width)


@pytest.mark.parametrize("matrix", [[1, 2, 3, 4], [[1, 2], [3, 4]], np.array([[1, 2], [3, 4]], np.float32)])
def test_structs_without_pointers_are_set_by_their_members(matrix: object) -> None:
    variables, memory = _made()
    variables["camera"] = {"turn": {"m": matrix}, "width": 5}
    assert memory.data["camera"] == _camera(1, 2, 3, 4, width=5)
    variables["cameras"] = [{"turn": {"m": matrix}, "width": width} for width in (6, 7)]
    assert memory.data["cameras"] == _camera(1, 2, 3, 4, width=6) + _camera(1, 2, 3, 4, width=7)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"turn": {"m": [1, 2, 3]}, "width": 5}, r"camera\.turn\.m: 3 numbers are given, it holds 4"),
        ({"turn": {"m": np.zeros((2, 3))}, "width": 5}, r"camera\.turn\.m: 6 numbers are given, it holds 4"),
        ({"turn": {"m": [1, 2, 3, 4]}}, r"member camera\.width of the struct Camera is missing"),
    ],
)
def test_members_that_do_not_fit(value: object, message: str) -> None:
    variables, memory = _made()
    with pytest.raises(ArgumentError, match=message):
        variables["camera"] = value
    assert memory.data["camera"] == bytes(20)


def test_shadows() -> None:
    variables, _ = _made("duplicated")
    rho, d_rho, d_table, d_buffer = (np.zeros(n, np.float32) for n in (3, 3, 6, 3))
    variables["fluid"] = {"rho": rho, "n": 3}
    given = {"table": d_table, "fluid": {"rho": d_rho}, "buffer": d_buffer}
    table, fluid, buffer = variables.shadows(given)
    assert table.symbol == "adgen_shadow_table"
    assert table.view is not None
    assert table.view.address == d_table.ctypes.data
    assert fluid.data == struct.pack("<Qi4x", d_rho.ctypes.data, 3)
    assert buffer.data == struct.pack("<Q", d_buffer.ctypes.data)
    with pytest.raises(ArgumentError, match="shadow of the variable 'table' is missing"):
        variables.shadows({})
    with pytest.raises(ArgumentError, match=r"(?s)shadow 'table'.*another size.*\(2, 3\)"):
        variables.shadows({**given, "table": np.zeros(5, np.float32)})
