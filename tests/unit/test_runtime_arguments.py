"""Arguments are converted by the signature: what fits goes through untouched, everything else is explained."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runtime_support import AXPY, BOOL, F32, F64, FLOAT4, I32, PARTICLE, SQUARE, U8, kernel, pointer, scalar

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import DataType, Parameter, StructField
from enzyme_driver.runtime.call.arguments import Arguments
from enzyme_driver.runtime.call.arrays import interface_dtype
from enzyme_driver.runtime.call.layouts import alignment
from enzyme_driver.runtime.call.slots import argument_slot
from enzyme_driver.runtime.call.structs import structured
from enzyme_driver.runtime.call.values import scalar_bytes, struct_bytes

X = np.ones(4, np.float32)
READ = Arguments(kernel("k", pointer("x", F32, mode="r")), "openmp")
WRITTEN = Arguments(kernel("k", pointer("x", F32)), "openmp")


def frozen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.flags.writeable = False
    return array


def unaligned() -> np.ndarray[Any, Any]:
    return np.zeros(17, np.uint8)[1:].view(np.float32)


class Interface:
    """An array of another library, known by its interface alone."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Dlpack:
    """The same for DLPack; `device` is the kind of memory that it claims."""

    def __init__(self, array: np.ndarray[Any, Any], device: int = 1) -> None:
        self.array, self.device = array, device

    def __dlpack__(self, **options: Any) -> Any:  # noqa: ANN401
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


class OnGpu:
    """Something that says it lies in GPU memory."""

    dtype: object = "float32"
    __cuda_array_interface__ = {"shape": (4,), "typestr": "<f4", "data": (4096, False), "version": 3}  # noqa: RUF012


@pytest.mark.parametrize("wrap", [lambda x: x, Interface, Dlpack], ids=["numpy", "interface", "dlpack"])
def test_arrays_go_through_without_a_copy(wrap: Callable[[Any], object]) -> None:
    x = np.ones(4, np.float32)
    prepared = WRITTEN.primal([wrap(x)])
    assert prepared.values == (struct.pack("<Q", x.ctypes.data),)


@pytest.mark.parametrize(
    ("value", "got", "hint"),
    [
        (np.ones(4), "got float64, shape (4,)", "x.astype('float32')"),
        (np.ones(4, np.int32), "got int32", "astype"),
        (np.ones(4, ">f4"), "got >f4", "astype"),
        (np.ones(4, np.complex64), "got complex64", "astype"),
        (np.ones(8, np.float32)[::2], "got an array with other strides", "ascontiguousarray"),
        (np.ones(8, np.float32)[::-1], "got an array with other strides", "ascontiguousarray"),
        (np.asfortranarray(np.ones((2, 3), np.float32)), "got an array with other strides", "ascontiguousarray"),
        (frozen(np.ones(4, np.float32)), "got a read-only numpy.ndarray of float32", "x.copy()"),
        (unaligned(), "got an array that is not aligned", "x.copy()"),
        ([1.0], "got list", "numpy.asarray(x, dtype='float32')"),
        (1.0, "got float", "numpy.asarray"),
        (np.float32(1), "got numpy.float32 of float32", "numpy.asarray"),
        (None, "got None", 'compile with activity={"x": "const"}'),
        (OnGpu(), "got tests.OnGpu of float32", "copy it to the host"),
        (Dlpack(X, device=2), "got tests.Dlpack", "copy it to the host"),
    ],
)
def test_arrays_that_do_not_fit(value: object, got: str, hint: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        WRITTEN.primal([value])
    expected = "argument 'x' of k(float32 *x): expected a writable, C-contiguous float32 array in host memory, "
    assert caught.value.reason.startswith(expected)
    assert got in caught.value.reason.replace("test_runtime_arguments.", "tests.")
    assert hint in caught.value.hint


@pytest.mark.parametrize(("library", "hint"), [("torch", "x.to(torch.float32)"), ("jaxlib", "x.astype('float32')")])
def test_the_type_is_converted_by_the_arrays_own_library(library: str, hint: str) -> None:
    double = type("Tensor", (Interface,), {"__module__": library})(np.ones(8))
    with pytest.raises(ArgumentError) as caught:
        WRITTEN.primal([double])
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("library", "hint"),
    [
        ("torch", "x.contiguous()"),
        ("cupy._core.core", "cupy.ascontiguousarray(x)"),
        ("jaxlib", "numpy.ascontiguousarray(x)"),
    ],
)
def test_the_copy_is_made_by_the_arrays_own_library(library: str, hint: str) -> None:
    strided = type("Tensor", (Interface,), {"__module__": library})(np.ones(8, np.float32)[::2])
    with pytest.raises(ArgumentError) as caught:
        WRITTEN.primal([strided])
    assert hint in caught.value.hint


def test_what_is_only_read_may_be_read_only_or_empty() -> None:
    READ.primal([frozen(np.ones(4, np.float32))])
    READ.primal([np.zeros((0, 3), np.float32)])
    READ.primal([np.ones((8, 1, 2), np.float32)[::4, :, :][:1]])


NULLABLE = replace(pointer("x", F32), nullable=True)
UNUSED = replace(pointer("x", F32), reads=False, writes=False)


@pytest.mark.parametrize("parameter", [pointer("x", F32, "const"), NULLABLE, UNUSED])
def test_none_is_a_null_pointer(parameter: Parameter) -> None:
    assert Arguments(kernel("k", parameter), "openmp").primal([None]).values == (bytes(8),)


def test_the_shadow_of_a_null_pointer_is_null() -> None:
    arguments = Arguments(kernel("k", NULLABLE, pointer("y", F32)), "openmp")
    for shadows in ({"y": X.copy()}, {"x": None, "y": X.copy()}):
        assert arguments.gradient([None, X.copy()], shadows).values[2] == bytes(8)
    with pytest.raises(ArgumentError, match="got None"):
        arguments.gradient([X.copy(), X.copy()], {"x": None, "y": X.copy()})
    with pytest.raises(ArgumentError, match="takes no null pointer"):
        arguments.recorded([None, X.copy()])


def test_a_reference_is_never_null() -> None:
    arguments = Arguments(kernel("k", replace(pointer("x", F32), reference=True)), "openmp")
    with pytest.raises(ArgumentError, match="a reference is never null"):
        arguments.primal([None])


def test_numpy_array_for_a_gpu_kernel() -> None:
    on_gpu = Arguments(kernel("k", pointer("x", F32)), "cuda")
    with pytest.raises(ArgumentError, match=r"(?s)in GPU memory, got numpy.ndarray of float32.*copy it to the GPU"):
        on_gpu.primal([X])
    with pytest.raises(ArgumentError, match="got list"):
        on_gpu.primal([[1.0]])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"typestr": "<f8"}, "got <f8|got float64"),
        ({"strides": (8,)}, "other strides"),
        ({"data": (4096, True)}, "read-only"),
        ({"data": (4098, False)}, "not aligned"),
    ],
)
def test_gpu_arrays_that_do_not_fit(change: dict[str, object], match: str) -> None:
    array = OnGpu()
    array.__cuda_array_interface__ = {**OnGpu.__cuda_array_interface__, **change}
    with pytest.raises(ArgumentError, match=match):
        Arguments(kernel("k", pointer("x", F32)), "cuda").primal([array])


def test_gpu_arrays_that_fit() -> None:
    array, arguments = OnGpu(), Arguments(kernel("k", pointer("x", F32)), "cuda")
    assert arguments.primal([array]).views[0].address == 4096
    array.__cuda_array_interface__ = {**OnGpu.__cuda_array_interface__, "shape": (2, 2), "strides": (8, 4), "stream": 7}
    assert arguments.primal([array]).views[0].stream == 7


def test_bfloat16_stays_what_it_is() -> None:
    """What NumPy says of it is bytes."""
    dtype = np.dtype(ml_dtypes.bfloat16)
    array: Any = OnGpu()
    array.dtype = dtype
    assert interface_dtype(array, {"typestr": dtype.str, "descr": dtype.descr}) == dtype


def test_structs_for_a_gpu_kernel() -> None:
    """CuPy refuses them with an error of its own, so that it is not named as the way."""
    particle = structured(PARTICLE)
    on_gpu = Arguments(kernel("k", pointer("p", PARTICLE)), "cuda")
    with pytest.raises(ArgumentError, match=r"(?s)\bp\b.*in GPU memory, got numpy.ndarray.*numba\.cuda\.to_device"):
        on_gpu.primal([np.zeros(4, particle)])
    array = OnGpu()
    array.__cuda_array_interface__ = {**OnGpu.__cuda_array_interface__, "typestr": np.dtype(particle).str}
    with pytest.raises(ArgumentError, match="give a structured array of the layout"):
        on_gpu.primal([array])
    array.dtype = particle  # as Numba's arrays say it
    assert on_gpu.primal([array]).views[0].nbytes == 4 * particle.itemsize


class NeedsDetach:
    """A tensor that refuses to export itself, as those of PyTorch with a gradient do."""

    requires_grad = True

    @property
    def __cuda_array_interface__(self) -> object:
        raise RuntimeError("use var.detach()")

    def __dlpack__(self, **options: object) -> object:
        raise BufferError(f"no export with {sorted(options)}")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def test_tensor_with_a_gradient() -> None:
    with pytest.raises(ArgumentError, match=r"give tensor\.detach\(\)"):
        Arguments(kernel("k", pointer("x", F32)), "cuda").primal([NeedsDetach()])


STRUCTS = Arguments(kernel("k", pointer("p", PARTICLE, mode="r"), pointer("v", FLOAT4, mode="r")), "openmp")
LAYOUT = np.dtype({"names": ["a", "b", "c"], "formats": [("f4", 3), "i4", "f8"], "offsets": [0, 12, 16]})


def test_struct_arrays_by_layout() -> None:
    p = np.zeros(2, LAYOUT)
    for v in (
        np.zeros(3, [("x", "f4"), ("y", "f4"), ("z", "f4"), ("w", "f4")]),
        np.zeros(3, [("all", "f4", 4)]),
        np.zeros((3, 4), np.float32),
        np.zeros(8, np.float32),
    ):
        STRUCTS.primal([p, v])


@pytest.mark.parametrize(
    ("p", "v", "match"),
    [
        (np.zeros(2, LAYOUT), np.zeros(6, np.float32), "'v'.*got float32, shape"),
        (np.zeros(2, LAYOUT), np.zeros(8), "'v'.*got float64"),
        (np.zeros(2, LAYOUT), np.zeros(9, np.float32)[1:], "'v'.*not aligned"),
        (np.zeros(6, np.float32), np.zeros(4, np.float32), "'p'.*got float32"),
        (np.zeros(2, [("a", "f4", 3), ("b", "u4"), ("c", "f8")]), np.zeros(4, np.float32), "'p'"),
    ],
)
def test_struct_arrays_of_another_layout(p: object, v: object, match: str) -> None:
    if match.endswith("not aligned") and isinstance(v, np.ndarray) and v.ctypes.data % 16 == 0:
        v = np.zeros(10, np.float32)[2:]
    with pytest.raises(ArgumentError, match=match):
        STRUCTS.primal([p, v])


def converted(value: object, dtype: DataType) -> bytes:
    parameter = Parameter("s", "scalar", dtype, True, "const")
    return scalar_bytes(value, argument_slot(kernel("k", parameter), parameter, "openmp"))


I8, U64 = DataType("int8", "int", 1), DataType("uint64", "uint", 8)
F16 = DataType("float16", "float", 2)


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (3, I32, struct.pack("<i", 3)),
        (3.0, I32, struct.pack("<i", 3)),
        (True, I32, struct.pack("<i", 1)),
        (np.int64(-128), I8, b"\x80"),
        (np.array(5), I8, b"\x05"),
        (2**64 - 1, U64, b"\xff" * 8),
        (1, F32, struct.pack("<f", 1)),
        (0.1, F32, struct.pack("<f", 0.1)),
        (np.float64(0.5), F16, struct.pack("<e", 0.5)),
        (math.inf, F32, struct.pack("<f", math.inf)),
        (np.array(2.5, np.float32), F64, struct.pack("<d", 2.5)),
        (np.True_, BOOL, b"\x01"),
        (0, BOOL, b"\x00"),
    ],
)
def test_scalars_by_the_declared_type(value: object, dtype: DataType, expected: bytes) -> None:
    assert converted(value, dtype) == expected


@pytest.mark.parametrize(
    ("value", "dtype", "match"),
    [
        (2**31, I32, "got 2147483648"),
        (-1, U64, "uint64 holds 0 to"),
        (128, I8, "int8 holds -128 to 127"),
        (0.5, I32, r"(?s)got the number 0.5.*round it"),
        (math.nan, I32, "got the number nan"),
        (math.inf, I32, "got the number inf"),
        (1e39, F32, "too large for float32"),
        (10**400, F64, "too large for float64"),
        (2, BOOL, "bool holds 0 to 1"),
        ("1", I32, "got str '1'"),
        (1j, F64, "got complex 1j"),
        (None, F64, "got NoneType None"),
        ([1], F64, "got list"),
        (np.ones(1), F64, "got ndarray"),
        (np.array("a"), F64, "got ndarray"),
    ],
)
def test_scalars_that_do_not_fit(value: object, dtype: DataType, match: str) -> None:
    with pytest.raises(ArgumentError, match=match):
        converted(value, dtype)


@given(st.integers(-(2**70), 2**70))
def test_every_integer_is_exact_or_refused(value: int) -> None:
    if -(2**31) <= value < 2**31:
        assert int.from_bytes(converted(value, I32), "little", signed=True) == value
    else:
        with pytest.raises(ArgumentError):
            converted(value, I32)


def axpy(**shadows: object) -> Callable[[], object]:
    x, y = np.ones(4, np.float32), np.ones(4, np.float32)
    given = {"a": np.zeros(1, np.float32), "x": np.zeros(4, np.float32), "y": np.zeros(4, np.float32)} | shadows
    chosen = {name: shadow for name, shadow in given.items() if shadow is not None}
    return lambda: Arguments(AXPY, "openmp").gradient([4, 2.0, x, y], chosen)


@pytest.mark.parametrize(
    ("shadows", "match"),
    [
        ({"x": None}, r"(?s)shadow of 'x' .* is missing.*shadows=\{\"x\": ...\}, or compile with activity=.*const"),
        ({"xs": X}, r"(?s)shadow 'xs': axpy has no such parameter.*did you mean x\?"),
        ({"n": X}, "shadow 'n': no derivative is taken"),
        ({"x": np.zeros(4)}, "shadow 'x' .*got float64"),
        ({"x": np.zeros(3, np.float32)}, r"float32 of shape \(4,\) like the array, got float32 of shape \(3,\)"),
        ({"x": np.zeros((2, 2), np.float32)}, r"got float32 of shape \(2, 2\)"),
        ({"x": frozen(np.zeros(4, np.float32))}, "shadow 'x' .*read-only"),
        ({"a": np.zeros(2, np.float32)}, "shadow 'a' .*one-element float32 array"),
        ({"a": 0.0}, "shadow 'a' .*got float"),
        ({"x": X, "y": X}, "shadow 'y' .* shares memory with shadow 'x'"),
    ],
)
def test_shadows_that_do_not_fit(shadows: dict[str, object], match: str) -> None:
    with pytest.raises(ArgumentError, match=match):
        axpy(**{name: np.array(s, copy=True) if s is X and len(shadows) == 1 else s for name, s in shadows.items()})()


def test_shadows_that_fit() -> None:
    axpy()()
    axpy(a=np.zeros((), np.float32))()


def test_shadow_that_is_an_argument() -> None:
    x, y, a = np.ones(4, np.float32), np.ones(4, np.float32), np.zeros(1, np.float32)
    with pytest.raises(ArgumentError, match=r"shadow 'y' .* shares memory with argument 'y'"):
        Arguments(AXPY, "openmp").gradient([4, 2.0, x, y], {"a": a, "x": x.copy(), "y": y})
    with pytest.raises(ArgumentError, match=r"shadow 'x' .* shares memory with argument 'y'"):
        Arguments(AXPY, "openmp").gradient([4, 2.0, x, y], {"a": a, "x": y, "y": x.copy()})


def test_overlapping_arguments() -> None:
    memory = np.ones(6)
    x, out, shadows = memory[:4], memory[2:], {"x": np.zeros(4), "out": np.zeros(4)}
    arguments = Arguments(SQUARE, "openmp")
    arguments.primal([x, out, 4])
    with pytest.raises(ArgumentError, match="share memory, one is written, and the gradient would be wrong"):
        arguments.gradient([x, out, 4], shadows)
    with pytest.raises(ArgumentError, match="the gradient would be wrong"):
        arguments.untouched([x, out, 4])
    restricted = kernel("k", pointer("x", F64, mode="r!"), pointer("out", F64, mode="w!"))
    with pytest.raises(ArgumentError, match="they are declared __restrict__"):
        Arguments(restricted, "openmp").primal([x, out])
    arguments.primal([memory[:3], memory[3:], 3])


def test_two_inputs_may_be_the_same_array() -> None:
    both = Arguments(kernel("k", pointer("x", F64, mode="r!"), pointer("y", F64, mode="r!")), "openmp")
    x = np.ones(4)
    both.gradient([x, x], {"x": np.zeros(4), "y": np.zeros(4)})


@pytest.mark.parametrize(
    ("positional", "named", "match"),
    [
        ((1, 2.0, X), {}, r"(?s)axpy takes 4 arguments, got 3.*axpy\(int32 n, float32 a, const float32 \*x,"),
        ((1, 2.0), {"y": X}, "takes 4 arguments, got 3; 'x' is missing"),
        ((1,), {"y": X}, "got 2; 'a', 'x' are missing"),
        ((1, 2.0, X, X, 5), {}, "takes 4 arguments, got 5"),
        ((1, 2.0, X), {"x": X}, "argument 'x' is given twice"),
        ((1, 2.0, X), {"z": X}, "argument 'z': axpy has no such parameter"),
    ],
)
def test_binding(positional: tuple[object, ...], named: dict[str, object], match: str) -> None:
    with pytest.raises(ArgumentError, match=match):
        Arguments(AXPY, "openmp").bind(positional, named)


def test_a_missing_argument_may_have_been_taken_for_something_else() -> None:
    function = Arguments(kernel("solve", pointer("x", F64, mode="r"), pointer("tolerance", F64, mode="r")), "openmp")
    with pytest.raises(ArgumentError, match="tolerance= says something of its own in some calls"):
        function.bind((), {"x": X})


def test_binding_by_name_keeps_the_order() -> None:
    assert Arguments(AXPY, "openmp").bind((1,), {"y": 4, "a": 2, "x": 3}) == (1, 2, 3, 4)


def test_references() -> None:
    signature = kernel("k", pointer("c", F64, "const", mode="r&"), pointer("m", F64, mode="rw&"))
    arguments = Arguments(signature, "openmp")
    prepared = arguments.primal([2.5, np.ones(1)])
    kept = prepared.keep[0]
    assert isinstance(kept, np.ndarray)
    assert kept.view(np.float64)[0] == 2.5
    assert prepared.values[0] == struct.pack("<Q", kept.ctypes.data)
    for c, m in [(2.5, 1.0), (np.ones(2), np.ones(1)), (2.5, np.ones(2)), (None, np.ones(1)), ("a", np.ones(1))]:
        with pytest.raises(ArgumentError):
            arguments.primal([c, m])


def test_cotangents() -> None:
    arguments = Arguments(SQUARE, "openmp")
    arguments.check_cotangent(SQUARE["out"], frozen(np.ones(4)), np.zeros(4))
    with pytest.raises(ArgumentError, match=r"(?s)cotangent 'x': square does not write it.*writes: out"):
        arguments.check_cotangent(SQUARE["x"], np.ones(4), np.zeros(4))
    with pytest.raises(ArgumentError, match=r"cotangent 'out' .*got float32"):
        arguments.check_cotangent(SQUARE["out"], X, np.zeros(4))
    with pytest.raises(ArgumentError, match=r"cotangent 'out' .*got float64 of shape \(3,\)"):
        arguments.check_cotangent(SQUARE["out"], np.ones(3), np.zeros(4))


def test_memory_maps_are_arrays(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "x", np.float32, "w+", shape=(4,))
    WRITTEN.primal([mapped])
    Arguments(kernel("k", scalar("n", I32), pointer("b", U8)), "openmp").primal([1, mapped.view(np.uint8)])


def test_structs_without_derivative_are_given_as_bytes() -> None:
    raw = np.zeros((3, PARTICLE.size), np.uint8)
    Arguments(kernel("k", pointer("p", PARTICLE, "const")), "openmp").primal([raw])
    for parameter, value in [(pointer("p", PARTICLE), raw), (pointer("p", PARTICLE, "const"), raw[:1, :-1].copy())]:
        with pytest.raises(ArgumentError, match="structured array"):
            Arguments(kernel("k", parameter), "openmp").primal([value])


def test_a_struct_without_members_is_given_as_none() -> None:
    functor = DataType("Square", "struct", 1)
    slot = argument_slot(SQUARE, Parameter("f", "struct", functor, const=True, activity="const"), "openmp")
    assert struct_bytes(None, slot) == b"\0"
    with pytest.raises(ArgumentError, match="give None"):
        struct_bytes(1.0, slot)


@pytest.mark.parametrize(("size", "dtype"), [(8, np.complex64), (16, np.complex128)])
def test_complex_numbers_by_value(size: int, dtype: type[np.complexfloating[Any, Any]]) -> None:
    part = F32 if dtype is np.complex64 else F64
    fields = (StructField("real", 0, part), StructField("imag", size // 2, part))
    expected = np.array(1 - 2j, dtype).tobytes()
    for name, taken in (("complex<T>", True), ("Point", False)):
        parameter = Parameter("c", "struct", DataType(name, "struct", size, fields), const=True, activity="const")
        slot = argument_slot(SQUARE, parameter, "openmp")
        for value in (1 - 2j, np.complex64(1 - 2j), np.complex128(1 - 2j)):
            if taken:
                assert struct_bytes(value, slot) == expected
            else:
                with pytest.raises(ArgumentError, match="structured scalar"):
                    struct_bytes(value, slot)


def test_alignment_of_what_has_no_size_of_its_own() -> None:
    union = DataType("the union U", "opaque", 12)
    assert [alignment(dtype) for dtype in (F64, F32, union, DataType("S", "opaque", 64))] == [8, 4, 4, 16]


def test_the_layout_of_a_struct_is_told() -> None:
    with pytest.raises(ArgumentError, match=r"(?s)'p'.*layout of .*: \w+ at 0, .*, 24 bytes an element"):
        STRUCTS.primal([np.zeros(6, np.float32), np.zeros(4, np.float32)])
