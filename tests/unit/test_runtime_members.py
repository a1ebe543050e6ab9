"""Structs that are given as dicts of their members."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import pytest
from runtime_support import F64, I32, kernel, pointer

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import Activity, DataType, Parameter, StructField
from enzyme_driver.runtime.call.arguments import Arguments
from enzyme_driver.runtime.call.members import assembled, flattened, given, members
from enzyme_driver.runtime.transforms.vjp import Vjp

_GRID = DataType("Grid", "struct", 16, (StructField("nx", 0, I32), StructField("dx", 8, F64)))


def _pointer(to: DataType, *, const: bool = False) -> DataType:
    return DataType("pointer", "pointer", 8, pointee=to, const=const)


_FLUID = DataType(
    "Fluid",
    "struct",
    56,
    (
        StructField("rho", 0, _pointer(F64, const=True)),
        StructField("flux", 8, _pointer(F64), count=2),
        StructField("cells", 24, _pointer(I32)),
        StructField("grid", 32, _GRID),
        StructField("gain", 48, F64),
    ),
)


def _parameter(activity: Activity = "duplicated") -> Parameter:
    return Parameter("s", "struct", _FLUID, const=True, activity=activity, writes=False)


def _value() -> dict[str, Any]:
    flux = [np.ones(3), np.ones(3)]
    grid = {"nx": 3, "dx": 0.5}
    return {"rho": np.arange(3.0), "flux": flux, "cells": np.zeros(3, np.int32), "grid": grid, "gain": 2.0}


def _arguments() -> Arguments:
    return Arguments(kernel("k", _parameter(), pointer("x", F64)), "openmp")


def test_every_member_is_a_parameter() -> None:
    found = {member.parameter.name: member for member in members(_parameter())}
    assert list(found) == ["s.rho", "s.flux[0]", "s.flux[1]", "s.cells", "s.grid.nx", "s.grid.dx", "s.gain"]
    assert [found[name].offset for name in found] == [0, 8, 16, 24, 32, 40, 48]
    assert [name for name in found if found[name].parameter.has_shadow] == ["s.rho", "s.flux[0]", "s.flux[1]"]
    assert [name for name in found if found[name].parameter.writes] == ["s.flux[0]", "s.flux[1]", "s.cells"]


def test_a_dict_is_taken_apart_and_put_together() -> None:
    value = _value()
    flat = {parameter.name: item for parameter, item in flattened(_parameter(), value)}
    assert flat["s.flux[1]"] is value["flux"][1]
    assert assembled(_parameter(), flat) == value
    assert given(_parameter(), {"grid": {"dx": 1.0}}) == {"s.grid.dx": 1.0}


def test_the_struct_holds_addresses_and_numbers() -> None:
    value = _value()
    prepared = _arguments().primal([value, np.ones(1)])
    rho, flux, cells = value["rho"].ctypes.data, [f.ctypes.data for f in value["flux"]], value["cells"].ctypes.data
    assert prepared.values[0] == struct.pack("<4Qi4xdd", rho, *flux, cells, 3, 0.5, 2.0)
    assert len(prepared.views) == 5


def test_the_shadow_holds_the_shadows_addresses_and_no_floats() -> None:
    value, rho, flux = _value(), np.zeros(3), [np.zeros(3), np.zeros(3)]
    shadows = {"s": {"rho": rho, "flux": flux}, "x": np.zeros(1)}
    prepared = _arguments().gradient([value, np.ones(1)], shadows)
    addresses = (rho.ctypes.data, *(f.ctypes.data for f in flux), value["cells"].ctypes.data)
    assert prepared.values[2] == struct.pack("<4Qi4xdd", *addresses, 3, 0.0, 0.0)


def test_a_struct_that_leads_to_no_numbers_needs_no_shadow() -> None:
    indices = DataType("Indices", "struct", 16, (StructField("at", 0, _pointer(I32)), StructField("n", 8, I32)))
    parameter = Parameter("i", "struct", indices, const=True, activity="duplicated", writes=False)
    arguments = Arguments(kernel("k", parameter, pointer("x", F64)), "openmp")
    at = np.zeros(2, np.int32)
    whole = np.zeros((), {"names": ["at", "n"], "formats": [np.uint64, np.int32], "itemsize": 16})
    whole["at"], whole["n"] = at.ctypes.data, 2
    for value in ({"at": at, "n": 2}, whole[()]):
        prepared = arguments.gradient([value, np.ones(1)], {"x": np.zeros(1)})
        assert prepared.values[2] == prepared.values[0] == struct.pack("<Qi4x", at.ctypes.data, 2)


def test_a_pointer_that_is_not_used_is_none() -> None:
    value = {**_value(), "rho": None}
    shadows = {"s": {"flux": [np.zeros(3), np.zeros(3)]}, "x": np.zeros(1)}
    assert _arguments().gradient([value, np.ones(1)], shadows).values[2][:8] == bytes(8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gian": 1.0}, r"(?s)no member 'gian'.*mean gain"),
        ({"flux": [np.ones(3)]}, r"member s.flux\[1\] of the struct Fluid is missing"),
        ({"grid": {"nx": 3}}, r"member s.grid.dx"),
        ({"rho": np.zeros(3, np.float32)}, r"argument 's.rho'.*float64 array.*got float32"),
        ({"grid": {"nx": 2**40, "dx": 1.0}}, r"argument 's.grid.nx'"),
    ],
)
def test_wrong_members(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        _arguments().primal([{**_value(), **change}, np.ones(1)])


def test_arrays_in_structs_may_not_overlap_what_is_written() -> None:
    value = _value()
    with pytest.raises(ArgumentError, match=r"'s.flux\[0\]' and 'x'.*share memory"):
        _arguments().gradient([value, value["flux"][0]], {})
    shadows = {"s": {"rho": value["rho"], "flux": [np.zeros(3), np.zeros(3)]}, "x": np.zeros(3)}
    with pytest.raises(ArgumentError, match=r"shadow 's.rho'.*shares memory with argument 's.rho'"):
        _arguments().gradient([value, np.ones(3)], shadows)


class GridStruct(ctypes.Structure):
    _fields_ = (("nx", ctypes.c_int32), ("dx", ctypes.c_double))


class FluidStruct(ctypes.Structure):
    _fields_ = (
        ("rho", ctypes.c_void_p),
        ("flux", ctypes.c_void_p * 2),
        ("cells", ctypes.c_void_p),
        ("grid", GridStruct),
        ("gain", ctypes.c_double),
    )

    def __init__(self, rho: int, first: int, second: int, cells: int) -> None:
        super().__init__(rho, (first, second), cells)


def test_addresses_in_structs_may_not_point_into_what_is_written() -> None:
    rho, flux, x = np.ones(3), np.ones(3), np.ones(3)

    def with_struct(*arrays: np.ndarray) -> None:
        _arguments().gradient([FluidStruct(*(a.ctypes.data for a in arrays)), x], {})

    with pytest.raises(ArgumentError, match=r"'s.flux\[0\]' points into 'x'.*one is written"):
        with_struct(rho, x[1:], flux, rho)
    with pytest.raises(ArgumentError, match=r"'s.flux\[1\]' points into 's.flux\[0\]'"):
        with_struct(rho, flux, flux, rho)
    with pytest.raises(ArgumentError, match="shadow of"):
        with_struct(rho, flux, np.ones(3), np.ones(3))


def test_addresses_in_shadows_may_not_point_into_anything_else() -> None:
    arrays = [np.ones(3) for _ in range(4)]
    x, d_x = np.ones(3), np.zeros(3)
    given = FluidStruct(*(a.ctypes.data for a in arrays))

    def with_shadow(*shadows: np.ndarray) -> None:
        shadow = FluidStruct(*(a.ctypes.data for a in shadows))
        _arguments().gradient([given, x], {"s": shadow, "x": d_x})

    own = [np.zeros(3) for _ in range(4)]
    with_shadow(*own)
    with pytest.raises(ArgumentError, match=r"the shadow of 's.rho' points into .*'x'"):
        with_shadow(d_x[1:], *own[1:])
    with pytest.raises(ArgumentError, match=r"the shadow of 's.flux\[0\]' points into s.flux\[1\]"):
        with_shadow(own[0], arrays[2], *own[2:])
    with pytest.raises(ArgumentError, match=r"the shadow of 's.flux\[1\]' points into the shadow of 's.flux\[0\]'"):
        with_shadow(own[0], own[1], own[1], own[3])


@pytest.mark.parametrize(
    ("shadow", "message"),
    [
        ({"rho": np.zeros(3)}, r"shadow 's.flux\[0\]'.*is missing"),
        ({"rho": np.zeros(2), "flux": [np.zeros(3)] * 2}, r"expected float64 of shape \(3,\) like the array"),
        ({"rho": np.zeros(3), "flux": [np.zeros(3)] * 2, "gain": 0.0}, r"'s.gain': no derivative"),
    ],
)
def test_wrong_shadows(shadow: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        _arguments().gradient([_value(), np.ones(1)], {"s": shadow, "x": np.zeros(1)})


def test_vjp_makes_the_shadows() -> None:
    value, ones = _value(), np.ones(3)
    product = Vjp(_arguments(), [value, np.ones(1)], {"s": {"flux": [ones]}}, ("s.rho", "s"))

    def gradient(values: Any, shadows: Any) -> None:  # noqa: ANN401
        assert values[0]["rho"] is value["rho"]
        assert values[0]["flux"][0] is not value["flux"][0]
        assert values[0]["cells"] is not value["cells"]
        assert shadows["s"]["flux"][0].tolist() == [1, 1, 1]
        shadows["s"]["rho"] += 5

    found = product.run(gradient, None)
    assert found["s.rho"].tolist() == [5, 5, 5]
    assert found["s"]["flux"][1].tolist() == [0, 0, 0]


def test_vjp_refuses_what_has_no_derivative() -> None:
    for wrt, message in [("s.gain", "no derivative"), ("s.abc", "no such member"), ("x.y", "no such member")]:
        with pytest.raises(ArgumentError, match=message):
            Vjp(_arguments(), [_value(), np.ones(1)], None, wrt)
    with pytest.raises(ArgumentError, match="it is None"):
        Vjp(_arguments(), [{**_value(), "rho": None}, np.ones(1)], None, "s.rho")
    with pytest.raises(ArgumentError, match=r"(?s)does not write it.*s.flux\[0\], s.flux\[1\]"):
        Vjp(_arguments(), [_value(), np.ones(1)], {"s": {"rho": np.ones(3)}}, None)


def test_a_struct_of_numbers() -> None:
    grid = Parameter("g", "struct", _GRID, const=True, activity="const")
    prepared = Arguments(kernel("k", grid), "openmp").primal([{"nx": 3, "dx": np.float32(0.5)}])
    assert prepared.values == (struct.pack("<i4xd", 3, 0.5),)


def _vector(name: str = "vector<double, std::allocator<double> >") -> DataType:
    names = ("_M_start", "_M_finish", "_M_end_of_storage")
    impl = DataType(
        "_Vector_impl", "struct", 24, tuple(StructField(n, 8 * i, _pointer(F64)) for i, n in enumerate(names))
    )
    return DataType(name, "struct", 24, (StructField("_M_impl", 0, impl),))


def _span(address: str = "_M_ptr", length: str = "_M_extent_value") -> DataType:
    size = DataType("uint64", "uint", 8)
    fields = (StructField(address, 0, _pointer(F64, const=True)), StructField(length, 8, size))
    return DataType("span<const double, 18446744073709551615UL>", "struct", 16, fields)


def _held(dtype: DataType, value: object, *, by_address: bool = True) -> bytes:
    own = Parameter("v", "struct", dtype, const=True, activity="duplicated", writes=False, by_address=by_address)
    (held,) = Arguments(kernel("k", own), "openmp").primal([value]).values
    return held


def test_a_vector_is_an_array() -> None:
    x = np.arange(5.0)
    value = _held(_vector(), x)
    assert struct.unpack("3Q", value) == (x.ctypes.data, x.ctypes.data + 40, x.ctypes.data + 40)
    (found,) = members(Parameter("v", "struct", _vector(), const=True, activity="duplicated", by_address=True))
    assert (found.parameter.name, found.parameter.writes, found.copied) == ("v", False, False)


def test_a_vector_by_value_is_a_copy() -> None:
    x = np.arange(5.0)
    value = _held(_vector(), x, by_address=False)
    start, end, _ = struct.unpack("3Q", value)
    assert start != x.ctypes.data
    assert end - start == x.nbytes


@pytest.mark.parametrize("names", [("_M_ptr", "_M_extent_value"), ("__data_", "__size_")])
def test_a_span_is_an_array(names: tuple[str, str]) -> None:
    x = np.arange(5.0)
    value = _held(_span(*names), x)
    assert struct.unpack("2Q", value) == (x.ctypes.data, 5)


def test_a_vector_inside_a_struct() -> None:
    number = StructField("n", 24, I32)
    field = DataType("Field", "struct", 32, (StructField("data", 0, _vector()), number))
    x = np.arange(3.0)
    value = _held(field, {"data": x, "n": 3})
    assert struct.unpack("3Qi4x", value) == (x.ctypes.data, x.ctypes.data + 24, x.ctypes.data + 24, 3)


def test_a_struct_that_only_looks_like_a_vector_is_given_by_its_members() -> None:
    with pytest.raises(ArgumentError):
        _held(_vector("mesh<double>"), np.arange(5.0))
