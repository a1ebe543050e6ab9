"""What the CUDA target decides without a GPU: which code to run, which stream, and what to say without a driver."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu_support import artifact_folder

from enzyme_driver.artifact import read
from enzyme_driver.errors import ArgumentError, DeviceError, RefusedError
from enzyme_driver.lent import LentTable
from enzyme_driver.model import TargetEntry
from enzyme_driver.runtime.backends import cubins, driver
from enzyme_driver.runtime.backends.cubins import chosen_code, is_newer
from enzyme_driver.runtime.backends.cuda import _lent_bytes, _refuse_block, _with_shared
from enzyme_driver.runtime.backends.streams import stream_handle, wait_for
from enzyme_driver.runtime.call.geometry import launch_of
from enzyme_driver.runtime.call.prepared import PreparedArguments
from enzyme_driver.runtime.module import load


@pytest.mark.parametrize(
    ("archs", "capability", "expected"),
    [
        (["sm_80", "sm_90"], (9, 0), ("sm_90", "cubin")),
        (["sm_80", "sm_86"], (8, 9), ("sm_86", "cubin")),
        (["sm_90", "sm_90a"], (9, 0), ("sm_90a", "cubin")),
        (["sm_120", "sm_100"], (12, 0), ("sm_120", "cubin")),
        (["sm_75", "sm_80", "sm_120"], (9, 0), ("sm_80", "ptx")),
        (["sm_80", "sm_90a"], (10, 0), ("sm_80", "ptx")),
        (["sm_90"], (12, 1), ("sm_90", "ptx")),
        (["sm_100f"], (10, 3), ("sm_100f", "cubin")),
    ],
)
def test_code_for_a_gpu(archs: list[str], capability: tuple[int, int], expected: tuple[str, str]) -> None:
    assert chosen_code(archs, capability) == expected


@pytest.mark.parametrize(("archs", "capability"), [(["sm_90", "sm_100"], (8, 0)), (["sm_90a"], (10, 0))])
def test_no_code_for_a_gpu(archs: list[str], capability: tuple[int, int]) -> None:
    with pytest.raises(DeviceError, match=f"code for {', '.join(archs)}; this GPU is sm_"):
        chosen_code(archs, capability)


@pytest.mark.parametrize(
    ("dynamic", "shadows", "gradient", "count", "expected"),
    [
        (True, 0, False, 100, ((b"x",), 100)),
        (True, 0, True, 100, ((b"x", b"\x64\0\0\0"), 224)),
        (True, 0, True, 0, ((b"x", b"\0\0\0\0"), 0)),
        (False, 0, True, 100, ((b"x",), 100)),
        (False, 512, False, 100, ((b"x",), 100)),
        (False, 512, True, 0, ((b"x",), 512)),
        (True, 512, True, 100, ((b"x", b"\x64\0\0\0"), 736)),
    ],
)
def test_dynamic_shared_memory_of_a_gradient(
    dynamic: bool, shadows: int, gradient: bool, count: int, expected: object
) -> None:
    entry = TargetEntry("k", "g", dynamic_shadow_bytes=shadows, dynamic_shared=dynamic)
    prepared = PreparedArguments((b"x",), (), (), ())
    assert _with_shared(entry, prepared, launch_of((1, 1, None, count)), 0, gradient=gradient) == expected


@pytest.mark.parametrize(
    ("sizes", "grid", "expected"),
    [
        ((40, 100, 7), (32, 1, 1), 2 * 208 + 3),  # of both as much as the longer one has, in 16 bytes
        ((1 << 20, 100, 7), (8, 4, 1), 208 + 2),
        ((40, 4097, 7), (64, 1, 1), 48 + 1),  # 16-bit numbers take twice as much
        ((1 << 20, 1 << 20, 7), (64, 1, 1), 0),
        ((0, 0, 7), (64, 1, 1), 0),  # no arrays
        ((40, 100, 7), (31, 1, 1), 0),
    ],
)
def test_a_launch_lends_memory_for_short_tables(
    sizes: tuple[int, ...], grid: tuple[int, int, int], expected: int
) -> None:
    entry = TargetEntry("k", "g", lent=(LentTable(0, 1), LentTable(1, 2)))
    prepared = PreparedArguments((b"x",), (), (), (), shadow_bytes=sizes)
    assert _lent_bytes(entry, prepared, launch_of((grid, 64)), gradient=True) == expected
    assert entry.kernel(derivative=True, lent=expected) == ("g_lent" if expected else "g")
    assert _lent_bytes(entry, prepared, launch_of((grid, 64)), gradient=False) == 0
    assert entry.kernel(derivative=False, lent=0) == "k"
    assert _lent_bytes(entry, prepared, launch_of((grid, 64, None, 100)), gradient=True) == 0
    for other in (replace(entry, cooperative=True), replace(entry, static_shared_bytes=48 * 1024)):
        assert _lent_bytes(other, prepared, launch_of((grid, 64)), gradient=True) == 0


class CoreStream:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 11


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (5, 5),
        (CoreStream(), 11),
        (SimpleNamespace(cuda_stream=12), 12),
        (SimpleNamespace(ptr=13), 13),
        (SimpleNamespace(handle=ctypes.c_void_p(14)), 14),
        (SimpleNamespace(handle=ctypes.c_void_p(0)), 0),
    ],
)
def test_streams_of_every_library(stream: object, handle: int) -> None:
    assert stream_handle(stream, (), 0) == handle


@pytest.mark.parametrize("stream", ["s", -1, True, 1.0, object()])
def test_what_is_no_stream(stream: object) -> None:
    with pytest.raises(ArgumentError, match="is no stream"):
        stream_handle(stream, (), 0)


def test_current_stream_is_that_of_the_library_of_the_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tensor:
        pass

    class Ndarray:
        pass

    torch, cupy = ModuleType("torch"), ModuleType("cupy")
    torch.__dict__.update(Tensor=Tensor, _C=SimpleNamespace(_cuda_getCurrentRawStream=lambda device: 20 + device))
    cupy.__dict__.update(
        ndarray=Ndarray,
        cuda=SimpleNamespace(get_current_stream=lambda device: SimpleNamespace(ptr=30 + device)),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert stream_handle(None, [1, Tensor()], 1) == 21
    assert stream_handle(None, [Ndarray(), Tensor()], 2) == 32
    assert stream_handle(None, [1.0], 1) == 0


class Events:
    """The driver's events, written down."""

    CUevent_flags = SimpleNamespace(CU_EVENT_DISABLE_TIMING=2)
    CUresult = SimpleNamespace(CUDA_SUCCESS=0)

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    def cuEventCreate(self, flags: int) -> tuple[int, int]:  # noqa: N802
        return 0, flags

    def cuEventRecord(self, event: int, stream: int) -> tuple[int]:  # noqa: N802
        self.calls.append(("record", stream))
        return (event - 2,)

    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> tuple[int]:  # noqa: N802
        self.calls.append(("wait", stream))
        return (event - 2 + flags,)

    def cuEventDestroy(self, event: int) -> tuple[int]:  # noqa: N802
        return (event - 2,)


@pytest.mark.parametrize(
    ("producers", "stream", "calls"),
    [
        ([0, 1], 0, []),
        ([5], 5, []),
        ([0], 1, []),
        ([7, 7, 5], 5, [("record", 7), ("wait", 5)]),
        ([1], 5, [("record", 0), ("wait", 5)]),
    ],
)
def test_waiting_for_producers(
    monkeypatch: pytest.MonkeyPatch, producers: list[int], stream: int, calls: list[tuple[str, int]]
) -> None:
    events = Events()
    monkeypatch.setattr("enzyme_driver.runtime.backends.streams.api", lambda: events)
    monkeypatch.setattr(driver, "api", lambda: events)
    wait_for(producers, stream)
    assert events.calls == calls


@pytest.fixture
def without_driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine without the NVIDIA driver: the bindings are there, and find no library."""

    def fails(flags: int) -> Any:  # noqa: ANN401
        raise RuntimeError(f"libcuda.so.1 not found ({flags})")

    fake = ModuleType("cuda.bindings.driver")
    fake.__dict__["cuInit"] = fails
    monkeypatch.setitem(sys.modules, "cuda.bindings", ModuleType("cuda.bindings"))
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", fake)
    driver.api.cache_clear()
    yield
    driver.api.cache_clear()


class OnGpu:
    __cuda_array_interface__ = {"shape": (1,), "typestr": "<f8", "data": (4096, False), "version": 3}  # noqa: RUF012


@pytest.mark.usefixtures("without_driver")
def test_without_a_driver(tmp_path: Path) -> None:
    module = load(artifact_folder(tmp_path / "a", {"sm_90": b"cubin"}), "cuda")
    with pytest.raises(DeviceError, match=r"(?s)no usable NVIDIA GPU: libcuda.so.1 not found.*OpenMP target"):
        module.crashes[1, 1](OnGpu())
    with pytest.raises(ArgumentError, match=r"in GPU memory, got numpy\.ndarray"):
        module.crashes[1, 1](np.ones(1))


def test_without_cuda_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    driver.api.cache_clear()
    module = load(artifact_folder(tmp_path / "a", {"sm_90": b"cubin"}), "cuda")
    with pytest.raises(DeviceError, match=r"(?s)cannot be imported.*pip install 'adgen\[cuda13\]'"):
        module.crashes[1, 1](OnGpu())


def test_failed_calls_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    code = SimpleNamespace(name="CUDA_ERROR_ILLEGAL_ADDRESS")
    fake = SimpleNamespace(
        CUresult=SimpleNamespace(CUDA_SUCCESS=0), cuGetErrorString=lambda _: (0, b"an illegal address")
    )
    monkeypatch.setattr(driver, "api", lambda: fake)
    assert driver.done((0,), "x") is None
    assert driver.done((0, 7), "x") == 7
    assert driver.done((0, 7, 8), "x") == (7, 8)
    with pytest.raises(DeviceError, match=r"k failed: an illegal address \(CUDA_ERROR_ILLEGAL_ADDRESS\)"):
        driver.done((code,), "k failed")


def test_functions_do_not_run_on_the_gpu(tmp_path: Path) -> None:
    module = load(artifact_folder(tmp_path / "a", {"sm_90": b"cubin"}), "cuda")
    with pytest.raises(RefusedError, match="cannot be called on the GPU"):
        module.crashes._backend.call(TargetEntry("f", None), PreparedArguments((), (), (), ()), 0, gradient=False)


@pytest.mark.parametrize(("block", "refused"), [((256, 1, 1), False), ((16, 32, 1), True), ((256, 1, 3), True)])
def test_a_block_that_has_too_few_registers_is_told(
    block: tuple[int, int, int], refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK=256, CU_FUNC_ATTRIBUTE_NUM_REGS=255)
    fake = SimpleNamespace(
        CUfunction_attribute=names,
        CUresult=SimpleNamespace(CUDA_SUCCESS=0),
        cuFuncGetAttribute=lambda name, _: (0, name),
    )
    monkeypatch.setattr("enzyme_driver.runtime.backends.cuda.api", lambda: fake)
    if refused:
        with pytest.raises(DeviceError, match=r"256 threads a block at most, not (512|768): it has 255 registers"):
            _refuse_block(None, "k__gradient", launch_of((1, block)))
    else:
        _refuse_block(None, "k__gradient", launch_of((1, block)))


@pytest.mark.parametrize(
    ("toolkit", "known", "newer"),
    [("13.0.88", (12, 4), True), ("13.0.88", (13, 0), False), ("12.9.86", (13, 0), False), ("", (11, 8), False)],
)
def test_a_driver_of_an_older_major_does_not_read_a_cubin(toolkit: str, known: tuple[int, int], newer: bool) -> None:
    assert is_newer(toolkit, known) == newer


@pytest.mark.parametrize(("known", "form"), [((12, 4), "ptx"), ((13, 1), "cubin")])
def test_what_a_driver_is_given_and_what_is_said_where_it_refuses(
    known: tuple[int, int], form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: bytes) -> object:
        raise ValueError("CUDA_ERROR_UNSUPPORTED_PTX_VERSION")

    def unasked(_: bytes) -> object:
        raise AssertionError

    code = {"from_cubin": unasked, "from_ptx": unasked, f"from_{form}": refuse}
    monkeypatch.setattr(cubins, "core", lambda: SimpleNamespace(ObjectCode=SimpleNamespace(**code)))
    monkeypatch.setattr(cubins, "known_toolkit", lambda: known)
    monkeypatch.setattr(cubins, "attribute_of", lambda _, name: 9 if "MAJOR" in name else 0)
    artifact = read(artifact_folder(tmp_path / "made", {"sm_90": b""}, toolkit="13.0.88"))
    with pytest.raises(DeviceError) as caught:
        cubins.LoadedCode(artifact, 0)
    assert f"the {form} for sm_90" in caught.value.reason
    assert f"made by CUDA 13.0.88; the driver is one of CUDA {known[0]}.{known[1]}" in caught.value.reason
    assert ("cuda12" in caught.value.hint) == (form == "ptx")
