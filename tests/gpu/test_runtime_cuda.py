"""Launches on a GPU: arrays of every library, streams, shared memory, the heap, failures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu_support import Arrays, artifact_folder

from enzyme_driver.errors import ArgumentError, DeviceError
from enzyme_driver.runtime.module import Module, load

RANDOM = np.random.default_rng()
PARTICLE = np.dtype({"names": ["q", "id", "m"], "formats": [("f4", 3), "i4", "f8"], "offsets": [0, 12, 16]})
COUNT = 1000
LAUNCH = (4, 256)


def floats(count: int = COUNT) -> np.ndarray[Any, np.dtype[np.float32]]:
    return RANDOM.uniform(-1, 1, count).astype(np.float32)


def test_primal_and_gradient(module: Module, arrays: Arrays) -> None:
    x, y, dy = floats(), floats(), floats()
    on_gpu = {name: arrays.make(data) for name, data in {"x": x, "y": y, "dx": np.ones_like(x), "dy": dy}.items()}
    da = arrays.make(np.zeros(1, np.float32))
    module.axpy[LAUNCH](COUNT, 2.5, on_gpu["x"], on_gpu["y"])
    np.testing.assert_allclose(arrays.host(on_gpu["y"]), np.float32(2.5) * x + y, rtol=1e-5, atol=1e-6)
    shadows = {"a": da, "x": on_gpu["dx"], "y": on_gpu["dy"]}
    module.axpy.gradient[LAUNCH](COUNT, 2.5, on_gpu["x"], on_gpu["y"], shadows=shadows)
    np.testing.assert_allclose(arrays.host(on_gpu["dx"]), 1 + np.float32(2.5) * dy, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(arrays.host(da)[0], np.dot(x, dy), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("explicit", [False, True])
def test_vjp_makes_arrays_of_the_same_library(module: Module, arrays: Arrays, explicit: bool) -> None:
    x, y, dy = floats(), floats(), floats()
    given = [arrays.make(data) for data in (x, y, dy)]
    arrays.synchronize()
    stream = arrays.stream()
    key = (*LAUNCH, stream) if explicit else LAUNCH
    result = module.axpy.vjp[key](COUNT, 0.5, given[0], given[1], cotangents={"y": given[2]})
    stream.synchronize()
    assert {name: type(array) for name, array in result.items()} == dict.fromkeys("axy", type(given[0]))
    assert tuple(result["a"].shape) == ()
    np.testing.assert_allclose(arrays.host(result["a"]), np.dot(x, dy), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(arrays.host(result["x"]), np.float32(0.5) * dy, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(arrays.host(given[1]), y)


def test_check_passes(module: Module, arrays: Arrays) -> None:
    given = [arrays.make(floats()) for _ in range(2)]
    result = module.axpy.check[LAUNCH](COUNT, 0.5, *given, seed=3)
    assert result.passed
    assert [part.name for part in result.parameters] == ["a", "x", "y"]


def test_many_streams(module: Module, arrays: Arrays) -> None:
    """The launch follows the current stream: a copy queued before it on that stream is seen."""
    stream = arrays.stream()
    enter = arrays.library.cuda.stream(stream) if arrays.name == "torch" else stream
    with enter:
        x, y = arrays.make(np.ones(COUNT, np.float32)), arrays.make(np.zeros(COUNT, np.float32))
        for _ in range(50):
            x += 1
            module.axpy[LAUNCH](COUNT, 1.0, x, y)
    stream.synchronize()
    np.testing.assert_array_equal(arrays.host(y), sum(range(2, 52)))


def test_a_prepared_launch_follows_the_current_stream(module: Module, arrays: Arrays) -> None:
    x, y = arrays.make(np.zeros(COUNT, np.float32)), arrays.make(np.zeros(COUNT, np.float32))
    launch = module.axpy[LAUNCH].prepare(COUNT, 1.0, x, y)
    arrays.synchronize()
    stream = arrays.stream()
    with arrays.library.cuda.stream(stream) if arrays.name == "torch" else stream:
        for _ in range(50):
            x += 1
            launch()
    stream.synchronize()
    np.testing.assert_array_equal(arrays.host(y), sum(range(1, 51)))


def test_a_prepared_gradient_adds_each_time(module: Module, arrays: Arrays) -> None:
    dy = floats()
    given = [arrays.make(data) for data in (floats(), floats(), np.zeros(1, np.float32), np.zeros_like(dy), dy)]
    x, y, da, dx, d_y = given
    step = module.axpy.gradient[LAUNCH].prepare(COUNT, 2.0, x, y, shadows={"a": da, "x": dx, "y": d_y})
    for _ in range(3):
        step()
    np.testing.assert_allclose(arrays.host(dx), 6 * dy, rtol=1e-5, atol=1e-6)


def test_stream_handles(module: Module, arrays: Arrays) -> None:
    x, y = arrays.make(np.ones(4, np.float32)), arrays.make(np.zeros(4, np.float32))
    stream = arrays.stream()
    for form in (0, stream, getattr(stream, "cuda_stream", None) or stream.ptr):
        arrays.synchronize()
        module.axpy[1, 4, form](4, 1.0, x, y)
        stream.synchronize()
    arrays.synchronize()
    np.testing.assert_array_equal(arrays.host(y), 3)
    with pytest.raises(ArgumentError, match="no stream"):
        module.axpy[1, 4, "s"](4, 1.0, x, y)


def test_arrays_of_jax_are_inputs_only(module: Module) -> None:
    jax, cupy = pytest.importorskip("jax"), pytest.importorskip("cupy")
    x, y = jax.numpy.arange(8, dtype="float32"), cupy.zeros(8, "float32")
    module.axpy[1, 8](8, 2.0, x, y)
    np.testing.assert_array_equal(y.get(), 2 * np.arange(8))
    with pytest.raises(ArgumentError, match="JAX arrays are immutable"):
        module.axpy[1, 8](8, 2.0, y, x)
    result = module.axpy.vjp[1, 8](8, 2.0, x, x * 1, cotangents={"y": x * 1})
    np.testing.assert_array_equal(cupy.asnumpy(result["x"]), 2 * np.arange(8))


def test_arrays_of_numba(module: Module) -> None:
    cuda = pytest.importorskip("numba.cuda")
    x, y = cuda.to_device(np.ones(8, np.float32)), cuda.to_device(np.zeros(8, np.float32))
    module.axpy[1, 8](8, 2.0, x, y)
    np.testing.assert_array_equal(y.copy_to_host(), 2)


class OnlyDlpack:
    """An array that says where it is in no other way."""

    def __init__(self, array: Any) -> None:  # noqa: ANN401
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:  # noqa: ANN401
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:  # noqa: ANN401
        return self._array.__dlpack_device__()


def test_dlpack_alone_is_enough(module: Module, arrays: Arrays) -> None:
    x, y = arrays.make(np.ones(8, np.float32)), arrays.make(np.zeros(8, np.float32))
    arrays.synchronize()
    module.axpy[1, 8](8, 2.0, OnlyDlpack(x), OnlyDlpack(y))
    arrays.synchronize()
    np.testing.assert_array_equal(arrays.host(y), 2)
    with pytest.raises(ArgumentError, match="got float64"):
        module.axpy[1, 8](8, 2.0, OnlyDlpack(arrays.make(np.zeros(8))), y)


def test_vjp_without_cupy(module: Module, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of Numba, whose gradients are then plain buffers."""
    cuda = pytest.importorskip("numba.cuda")
    monkeypatch.setattr("enzyme_driver.runtime.backends.libraries._cupy", lambda: None)
    x, y, dy = floats(8), floats(8), floats(8)
    given = [cuda.to_device(data) for data in (x, y, dy)]
    result = module.axpy.vjp[1, 8](8, 2.0, given[0], given[1], cotangents={"y": given[2]})
    np.testing.assert_allclose(result["x"].copy_to_host(), 2 * dy, rtol=1e-6)
    np.testing.assert_allclose(cuda.as_cuda_array(result["a"]).copy_to_host(), np.dot(x, dy), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(given[1].copy_to_host(), y)
    assert module.axpy.check[1, 8](8, 2.0, given[0], given[1]).passed


def test_struct_by_value(module: Module, arrays: Arrays) -> None:
    out, particle = arrays.make(np.zeros(1)), np.array(((2, 0, 0), 1, 5), PARTICLE)
    module.weigh[1, 1](particle, out)
    assert arrays.host(out)[0] == 10


def test_wrong_arrays(module: Module, arrays: Arrays) -> None:
    good = arrays.make(np.zeros(8, np.float32))
    for bad, match in [
        (np.zeros(8, np.float32), "in GPU memory, got numpy.ndarray"),
        (arrays.make(np.zeros(8)), "got float64"),
        (arrays.make(np.zeros(16, np.float32))[::2], "other strides"),
        ([1.0], "got list"),
    ]:
        with pytest.raises(ArgumentError, match=match):
            module.axpy[1, 8](8, 2.0, bad, good)
    if arrays.name == "torch":
        with pytest.raises(ArgumentError, match="detach"):
            module.axpy[1, 8](8, 2.0, good.clone().requires_grad_(), good)
        with pytest.raises(ArgumentError, match="in GPU memory"):
            module.axpy[1, 8](8, 2.0, good.cpu(), good)


def test_dynamic_shared_memory(module: Module, arrays: Arrays) -> None:
    seen = arrays.make(np.zeros(2, np.uint32))
    module.dynamic[1, 1, None, 1000](seen)
    assert arrays.host(seen).tolist() == [1000, 0]
    module.dynamic.gradient[1, 1, None, 1000](seen, shadows={})
    assert arrays.host(seen).tolist() == [2016, 1000]
    module.dynamic.gradient[1, 1, None, 40_000](seen, shadows={})
    assert arrays.host(seen).tolist() == [80_000, 40_000]
    with pytest.raises(DeviceError, match="8000000 of dynamic shared memory a block; this GPU has"):
        module.dynamic.gradient[1, 1, None, 4_000_000](seen, shadows={})


def test_exhausted_heap_is_an_error_once(module: Module, arrays: Arrays) -> None:
    x, dx = arrays.make(np.full(1, -1.0)), arrays.make(np.ones(1))
    with pytest.raises(DeviceError, match=r"(?s)worthless.*ADGEN_DEVICE_HEAP"):
        module.hungry.gradient[1, 1](x, shadows={"x": dx})
    module.hungry.gradient[1, 1](arrays.make(np.ones(1)), shadows={"x": dx})
    assert arrays.host(dx)[0] == 4


def test_ptx_where_no_cubin_fits(tmp_path: Path, arrays: Arrays) -> None:
    module = load(artifact_folder(tmp_path / "old", {"sm_52": b"no cubin"}), "cuda")
    x, y = arrays.make(np.ones(4, np.float32)), arrays.make(np.zeros(4, np.float32))
    module.axpy[1, 4](4, 3.0, x, y)
    np.testing.assert_array_equal(arrays.host(y), 3)


def test_code_of_newer_gpus_only(tmp_path: Path, arrays: Arrays, arch: str) -> None:
    module = load(artifact_folder(tmp_path / "new", {"sm_999": b"", "sm_998": b""}), "cuda")
    with pytest.raises(DeviceError, match=f"code for sm_999, sm_998; this GPU is {arch}"):
        module.crashes[1, 1](arrays.make(np.ones(1)))


def test_cubin_that_is_none(tmp_path: Path, arrays: Arrays, arch: str) -> None:
    module = load(artifact_folder(tmp_path / "bad", {arch: b"no cubin"}), "cuda")
    with pytest.raises(DeviceError, match="cannot be loaded"):
        module.crashes[1, 1](arrays.make(np.ones(1)))


CRASH = """
import sys, cupy
from enzyme_driver.errors import DeviceError
from enzyme_driver.runtime.module import load
module = load(sys.argv[1], "cuda")
x, dx = cupy.ones(1), cupy.ones(1)
try:
    module.crashes[1, 1](x)
    module.hungry.gradient[1, 1](x, shadows={"x": dx})
except DeviceError as error:
    print("DeviceError:", error.reason)
"""


def test_crashed_launch(tmp_path: Path, arch: str, cubin: bytes) -> None:
    pytest.importorskip("cupy")
    folder = artifact_folder(tmp_path / "crash", {arch: cubin})
    path = [str(Path(__file__).parents[2]), *filter(None, sys.path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
    command = [sys.executable, "-c", CRASH, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "DeviceError:" in done.stdout
    assert "ILLEGAL" in done.stdout


def test_bfloat16_is_told_from_other_types(module: Module) -> None:
    torch = pytest.importorskip("torch")
    x = torch.ones(8, device="cuda", dtype=torch.bfloat16)
    with pytest.raises(ArgumentError, match="bfloat16"):
        module.axpy[1, 8](8, 2.0, x, torch.ones(8, device="cuda"))
