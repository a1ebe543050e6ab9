"""Kernels and functions of a real host library: launches, gradients, vjp, errors."""

from __future__ import annotations

import copy
import ctypes
import pickle
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from runtime_support import LAUNCHED, REFUSAL, contents, written_artifact

from enzyme_driver.artifact import write
from enzyme_driver.errors import ArgumentError, ArtifactError, NameNotFoundError, PrimalError, RefusedError, UsageError
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.module import Module, load
from enzyme_driver.runtime.tape.record import Tape
from enzyme_driver.settings import Settings

RANDOM = np.random.default_rng()


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Module:
    return load(written_artifact(tmp_path_factory.mktemp("hand")).folder)


def kernel(module: Module, name: str) -> Kernel:
    found = module[name]
    assert isinstance(found, Kernel)
    return found


def function(module: Module, name: str) -> Function:
    found = module[name]
    assert isinstance(found, Function)
    return found


def floats(count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return RANDOM.uniform(-1, 1, count).astype(np.float32)


def test_primal_computes_in_place(module: Module) -> None:
    x, y = floats(10), floats(10)
    before = y.copy()
    kernel(module, "axpy")[2, 8](10, 2.5, x, y)
    np.testing.assert_allclose(y, np.float32(2.5) * x + before, rtol=1e-6, atol=1e-6)


def test_arguments_by_name(module: Module) -> None:
    x, y = floats(4), np.zeros(4, np.float32)
    kernel(module, "axpy")[1, 4](4, y=y, x=x, a=3)
    np.testing.assert_allclose(y, 3 * x, rtol=1e-6, atol=1e-6)


def test_a_prepared_launch_reads_what_is_in_the_arrays_then(module: Module) -> None:
    x, y = floats(6), np.zeros(6, np.float32)
    launch = kernel(module, "axpy")[1, 6].prepare(6, a=2.0, x=x, y=y)
    assert not y.any()
    launch()
    first = x.copy()
    x[:] = floats(6)
    launch()
    np.testing.assert_allclose(y, 2 * (first + x), rtol=1e-6, atol=1e-6)


def test_a_prepared_gradient_is_the_gradient(module: Module) -> None:
    x, y, dy, dx, da = floats(6), floats(6), floats(6), np.zeros(6, np.float32), np.zeros(1, np.float32)
    launch = kernel(module, "axpy").gradient[1, 6].prepare(6, 0.5, x, y, shadows={"a": da, "x": dx, "y": dy})
    for _ in range(3):
        launch()
    np.testing.assert_allclose(dx, 1.5 * dy, rtol=1e-5, atol=1e-6)
    with pytest.raises(ArgumentError, match="the shadow of 'a'"):
        kernel(module, "axpy").gradient[1, 6].prepare(6, 0.5, x, y, shadows={"x": dx, "y": dy})


def test_a_prepared_gradient_is_for_after_the_tape(module: Module) -> None:
    x, out, d_x, d_out = floats(4).astype("f8"), np.zeros(4), np.zeros(4), np.ones(4)
    launch = kernel(module, "square").gradient[1, 4].prepare(x, out, 4, shadows={"x": d_x, "out": d_out})
    with Tape(), pytest.raises(UsageError, match="while a tape records") as caught:
        launch()
    assert caught.value.hint == "take derivatives after the `with` block"


class Moving:
    """An array that can get other memory."""

    def __init__(self, data: np.ndarray[Any, Any]) -> None:
        self.data = data

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.data.__array_interface__


def test_a_prepared_launch_is_refused_where_an_array_has_other_memory_or_a_tape_records(module: Module) -> None:
    x, y = floats(4), np.zeros(4, np.float32)
    moving = Moving(x)
    launch = kernel(module, "axpy")[1, 4].prepare(4, 1.0, moving, y)
    launch()
    with Tape() as tape, pytest.raises(UsageError, match="while a tape records"):
        launch()
    assert tape.launches == 0
    moving.data = x.copy()
    with pytest.raises(UsageError, match="has other memory now"):
        launch()
    np.testing.assert_array_equal(y, x)


def test_gradient_accumulates_into_inputs_and_uses_the_cotangent(module: Module) -> None:
    x, y, dy = floats(6), floats(6), floats(6)
    dx, da = np.ones(6, np.float32), np.full(1, 2, np.float32)
    kernel(module, "axpy").gradient[1, 6](6, 0.5, x, y, shadows={"a": da, "x": dx, "y": dy})
    np.testing.assert_allclose(dx, 1 + np.float32(0.5) * dy, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(da[0], 2 + np.dot(x, dy), rtol=1e-5, atol=1e-6)


def test_vjp_leaves_arguments_alone_and_returns_new_arrays(module: Module) -> None:
    x, y, dy = floats(6), floats(6), floats(6)
    kept = [array.copy() for array in (x, y, dy)]
    for array in (x, y, dy):
        array.flags.writeable = False
    result = kernel(module, "axpy").vjp[1, 6](6, 0.5, x, y, cotangents={"y": dy})
    assert list(result) == ["a", "x", "y"]
    assert result["a"].shape == ()
    np.testing.assert_allclose(result["a"], np.dot(x, dy), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(result["x"], np.float32(0.5) * dy, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(result["y"], dy)
    for array, before in zip((x, y, dy), kept, strict=True):
        np.testing.assert_array_equal(array, before)


def test_vjp_leaves_out_what_is_only_written_and_follows_wrt(module: Module) -> None:
    x, out, dout = RANDOM.uniform(size=5), np.zeros(5), RANDOM.uniform(size=5)
    square = kernel(module, "square")
    assert list(square.vjp[1, 5](x, out, 5, cotangents={"out": dout})) == ["x"]
    both = square.vjp[1, 5](x, out, 5, cotangents={"out": dout}, wrt=("out", "x"))
    np.testing.assert_allclose(both["x"], 2 * x * dout)
    np.testing.assert_array_equal(both["out"], 0)
    assert list(square.vjp[1, 5](x, out, 5, cotangents={}, wrt="x")) == ["x"]
    np.testing.assert_array_equal(square.vjp[1, 5](x, out, 5, cotangents={})["x"], 0)
    np.testing.assert_array_equal(out, 0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda k, args: k.vjp[1, 5](*args), r"cotangents of square\(.*\) are missing"),
        (lambda k, args: k.gradient[1, 5](*args), "the shadow of 'x' of square.* is missing"),
        (lambda k, args: k.gradient[1, 5].prepare(*args), "the shadow of 'x' of square.* is missing"),
    ],
)
def test_derivatives_of_which_nothing_is_given(module: Module, call: Callable[..., Any], words: str) -> None:
    """They would all be zero, which nobody wants to know."""
    with pytest.raises(ArgumentError, match=words) as caught:
        call(kernel(module, "square"), (np.ones(5), np.zeros(5), 5))
    assert "out" in caught.value.hint or "x" in caught.value.hint


def test_what_makes_new_arrays_cannot_be_prepared(module: Module) -> None:
    with pytest.raises(UsageError, match="cannot be prepared") as caught:
        kernel(module, "square").vjp[1, 5].prepare(np.ones(5), np.zeros(5), 5, cotangents={"out": np.ones(5)})  # type: ignore[attr-defined]
    assert "k.gradient[grid, block]" in caught.value.hint


def test_compiled_code_is_its_own_copy_and_is_not_pickled(module: Module) -> None:
    square = kernel(module, "square")
    assert copy.deepcopy({"layer": square})["layer"] is square
    assert copy.deepcopy(module) is module
    for each in (square, module):
        with pytest.raises(UsageError, match="cannot be pickled"):
            pickle.dumps(each)


def test_launch_reaches_the_library(module: Module) -> None:
    seen = np.zeros(32, np.uint8)
    kernel(module, "launched")[(np.int64(2), 3), (4, 5, 6), None, 48](seen)
    assert seen.view(np.uint32)[:6].tolist() == [2, 3, 1, 4, 5, 6]
    assert seen.view(np.uint64)[3] == 48


@pytest.mark.parametrize(
    "key",
    [
        4,
        (4,),
        (1, 1, None, 0, 0),
        (0, 1),
        (1, -1),
        (1, (2, 2, 2, 2)),
        ((), 1),
        (1.5, 1),
        (True, 1),
        (1, (32, 33)),
        (1, (1, 1, 65)),
        ((1, 70000), 1),
        ("a", 1),
        (1, 1, None, -1),
        (1, 1, 7),
    ],
)
def test_impossible_launches(module: Module, key: object) -> None:
    with pytest.raises(ArgumentError):
        kernel(module, "launched")[key](np.zeros(32, np.uint8))


def test_kernel_without_brackets(module: Module) -> None:
    with pytest.raises(UsageError, match=r"axpy\[grid, block\]"):
        kernel(module, "axpy")(1, 2, 3, 4)
    with pytest.raises(UsageError, match=r"axpy.gradient\[grid, block\]"):
        kernel(module, "axpy").gradient(1, 2, 3, 4)


def test_function_value_gradient_and_vjp(module: Module) -> None:
    energy, x = function(module, "energy"), RANDOM.uniform(-1, 1, 7)
    value = energy(x, 7)
    assert type(value) is float
    assert value == pytest.approx(np.dot(x, x))
    dx = np.ones(7)
    energy.gradient(x, 7, shadows={"x": dx}, cotangent=3)
    np.testing.assert_allclose(dx, 1 + 6 * x)
    np.testing.assert_allclose(energy.vjp(x, n=7, cotangent=-1.0)["x"], -2 * x)


def test_failure_of_the_users_code(module: Module) -> None:
    with pytest.raises(PrimalError, match="std::runtime_error: no such thing"):
        function(module, "fails")()
    with pytest.raises(ArgumentError, match="no cotangent"):
        function(module, "fails").gradient(shadows={}, cotangent=2.0)


PARTICLE = np.dtype({"names": ["q", "id", "m"], "formats": [("f4", 3), "i4", "f8"], "offsets": [0, 12, 16]})


class CParticle(ctypes.Structure):
    _fields_: ClassVar = [("q", ctypes.c_float * 3), ("number", ctypes.c_int), ("m", ctypes.c_double)]


@pytest.mark.parametrize("kind", ["void", "0-d", "1-d", "ctypes"])
def test_struct_by_value(module: Module, kind: str) -> None:
    one = np.array([((2, 0, 0), 1, 5)], PARTICLE)
    forms = {"void": one[0], "0-d": one[0, ...], "1-d": one, "ctypes": CParticle((2, 0, 0), 1, 5)}
    others = np.zeros(2, PARTICLE)
    others["m"] = 7
    mass = function(module, "mass")
    assert mass(forms[kind], others, True) == 17
    assert mass(forms[kind], others, on=0) == 0
    result = mass.vjp(forms[kind], others, True)
    assert result["p"]["m"] == 2
    assert result["p"]["q"][0] == 5
    assert result["others"]["m"].tolist() == [1, 0]


def test_struct_of_another_layout(module: Module) -> None:
    others, bad = np.zeros(1, PARTICLE), np.zeros((), [("q", "f4", 3), ("id", "i4"), ("m", "i8")])
    mass = function(module, "mass")
    with pytest.raises(ArgumentError, match=r"'p' of mass\(.*another layout.*\n.*f4 at 0, .*24 bytes"):
        mass(bad, others, True)
    with pytest.raises(ArgumentError, match=r"ctypes\.Structure"):
        mass((1, 2), others, True)
    with pytest.raises(ArgumentError, match="'others'"):
        mass(np.zeros((), PARTICLE), bad[None], True)


def test_struct_that_holds_pointers(module: Module) -> None:
    class Bundle(ctypes.Structure):
        _fields_: ClassVar = [("data", ctypes.POINTER(ctypes.c_double)), ("n", ctypes.c_int32)]

    def bundle(array: np.ndarray[Any, Any]) -> Bundle:
        return Bundle(array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), array.size)

    data, shadow, total = RANDOM.uniform(size=4), np.zeros(4), function(module, "total")
    assert total(bundle(data), 2.0) == pytest.approx(2 * data.sum())
    assert total(bundle(data), np.array([2.0])) == pytest.approx(2 * data.sum())
    total.gradient(bundle(data), 2.0, shadows={"b": bundle(shadow)})
    np.testing.assert_array_equal(shadow, 2)
    with pytest.raises(ArgumentError, match="same memory"):
        total.gradient(bundle(data), 2.0, shadows={"b": bundle(data)})
    with pytest.raises(ArgumentError, match="holds pointers"):
        total.vjp(bundle(data), 2.0)


def test_namespaces_need_not_be_said(tmp_path: Path) -> None:
    made = written_artifact(tmp_path)
    names = {"axpy": "ns::axpy<float, 4U>", "tpl<double>": "ns::f<int>", "energy": "f"}
    entries = tuple(
        replace(entry, signature=replace(entry.signature, name=names.get(entry.signature.name, entry.signature.name)))
        for entry in made.entries
    )
    made = replace(made, manifest=replace(made.manifest, entries=entries))
    module = Module(made, "openmp", Settings.from_environment())
    assert module["axpy<float,4>"] is module["ns::axpy<float, 4>"] is module["axpy"] is module["ns::axpy"]
    assert module["f"].name == "f"
    assert module["f<int>"] is module["ns::f"]


def test_module_finds_entries(module: Module) -> None:
    assert module.tpl_double is module["tpl<double>"] is module["tpl"] is module["::tpl< double >"]
    assert {"axpy", "tpl_double", "energy"} <= set(dir(module))
    assert [entry.name for entry in module] == [signature.name for signature in module.signatures]
    assert len(module) == len(module.signatures)
    assert "axpy" in module
    assert not hasattr(module, "nothing")
    with pytest.raises(NameNotFoundError, match="did you mean axpy"):
        module["axpi"]
    with pytest.raises(NameNotFoundError, match="square_wrong"):
        module["square_w"]
    assert repr(module.axpy) == "<adgen kernel axpy(int32 n, float32 a, const float32 *x, float32 *y) on openmp>"
    assert module.axpy.signature["x"].dtype.name == "float32"


def test_refused_gradient_keeps_the_primal(module: Module) -> None:
    launched, seen = kernel(module, "launched"), np.zeros(32, np.uint8)
    launched[1, 1](seen)
    for attempt in (launched.gradient[1, 1], launched.vjp[1, 1]):
        with pytest.raises(RefusedError, match=f"x.cu:7: .*{REFUSAL.reason}") as caught:
            attempt(seen, shadows={})
        assert caught.value.hint == REFUSAL.hint
    with pytest.raises(RefusedError, match=REFUSAL.reason):
        launched.check[1, 1](seen)
    assert module.launched.signature == LAUNCHED


def test_entry_that_was_not_built_for_the_target(module: Module) -> None:
    with pytest.raises(RefusedError, match="gpu_only was not compiled for openmp"):
        kernel(module, "gpu_only")[1, 1]()


def test_load_names_what_is_missing(tmp_path: Path) -> None:
    folder = written_artifact(tmp_path).folder
    with pytest.raises(ArtifactError, match="no code for cuda"):
        load(folder, "cuda")
    with pytest.raises(UsageError, match="no target 'gpu'"):
        load(folder, "gpu")  # type: ignore[arg-type]
    with pytest.raises(ArtifactError, match=r"there is no .*manifest.json"):
        load(tmp_path / "nowhere")


def test_damaged_library_is_an_error_and_no_crash(tmp_path: Path) -> None:
    artifact = written_artifact(tmp_path)
    library = artifact.folder / "hand.so"
    library.write_bytes(library.read_bytes()[:1000])
    with pytest.raises(ArtifactError, match="not the file that was compiled"):
        load(artifact.folder)


def test_library_that_is_none(tmp_path: Path) -> None:
    text = tmp_path / "hand.so"
    text.write_text("no library")
    write(tmp_path / "a", contents(text))
    with pytest.raises(ArtifactError, match="cannot be loaded"):
        load(tmp_path / "a")


def test_two_threads_call_at_once(module: Module) -> None:
    energy = function(module, "energy")
    results: list[bool] = []

    def work(value: float) -> None:
        results.extend(energy(np.full(1000, value), 1000) == pytest.approx(1000 * value**2) for _ in range(50))

    workers = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [True] * 200


class OnlyDlpack:
    """An array that shows itself in no other way."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:  # noqa: ANN401
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:  # noqa: ANN401
        return self.array.__dlpack_device__()


def test_vjp_of_arrays_that_speak_dlpack_alone(module: Module) -> None:
    x, y, dy = floats(6), floats(6), floats(6)
    result = module.axpy.vjp[1, 6](6, 0.5, OnlyDlpack(x), OnlyDlpack(y), cotangents={"y": OnlyDlpack(dy)})
    np.testing.assert_allclose(result["x"], np.float32(0.5) * dy, rtol=1e-6, atol=1e-6)
    assert module.axpy.check[1, 6](6, 0.5, OnlyDlpack(x), OnlyDlpack(y)).passed
