"""New memory for what a gradient on a GPU returns: where it lies, and what it is filled with."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu_support import artifact_folder

from enzyme_driver.runtime.backends import cuda, driver
from enzyme_driver.runtime.call import plain
from enzyme_driver.runtime.call.libraries import Block, DeviceArrays, Given, Memory, Wanted, WantedShadow, layout_of
from enzyme_driver.runtime.module import load

SINGLE, DOUBLE = np.dtype("float32"), np.dtype("float64")


class HostArrays(DeviceArrays):
    """Arrays in host memory, dealt with as those of a GPU."""

    kind = np.ndarray

    def address(self, array: Any, writable: bool) -> int:  # noqa: ANN401
        del writable
        return int(array.ctypes.data)

    def device(self, arrays: Iterable[Any]) -> int | None:
        return 0 if list(arrays) else None

    def stream(self, device: int) -> int:
        return device

    def _block(self, block: Block, given: Given, results: dict[str, Any]) -> tuple[int, object]:
        unit = 1 if block.dtype is None else block.dtype.itemsize
        whole = np.full(block.count * unit, 255, np.uint8)
        ends = np.cumsum([0, *block.parts]) * unit
        assert ends[-1] == whole.size
        for row in block.results:
            assert ends[row.part] == row.offset
            part = whole[row.offset : ends[row.part + 1]].view(given.dtypes[row.number])
            results[row.name] = part.reshape(given.arguments[row.number].shape if row.is_array else ())
        return self.address(whole, True), whole


def given(arguments: tuple[Any, ...], dtypes: tuple[Any, ...], seeds: dict[str, tuple[Any, int]]) -> Given:
    arrays = [each for each in arguments if hasattr(each, "nbytes")]
    return Given(arguments, dtypes, arrays[0], tuple(each.nbytes for each in arrays), seeds)


def filled(made: Memory) -> None:
    for address, count in made.fills.zeros:
        ctypes.memset(address, 0, count)
    for target, source, count in made.fills.copies:
        ctypes.memmove(target, source, count)


def content(address: int, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(ctypes.string_at(address, like.nbytes), like.dtype).reshape(like.shape)


def wanted(sizes: tuple[int, ...] = (4, 8, 4, 8)) -> Wanted:
    """Of f(x, by, y, z): y is written, z written and read, `by` is a number."""
    return Wanted(
        (
            WantedShadow("x", 0, True, False, True, sizes[0]),
            WantedShadow("by", 1, False, False, True, sizes[1]),
            WantedShadow("y", 2, True, True, False, sizes[2]),
            WantedShadow("z", 3, True, False, True, sizes[3]),
        ),
        ((2, False), (3, True)),
    )


@pytest.mark.parametrize("count", [1, 7, 64, 200_000])
def test_memory_of_a_gradient(count: int) -> None:
    rng = np.random.default_rng(count)
    x, y = rng.standard_normal((2, count)).astype(SINGLE), rng.standard_normal(2 * count).astype(SINGLE)
    z, seed, arrays = rng.standard_normal(count), np.ones(2 * count, SINGLE), HostArrays()
    asked, dtypes = wanted(), (SINGLE, DOUBLE, SINGLE, DOUBLE)
    for _ in range(2):
        made = arrays.memory(asked, given((x, 2.0, y, z), dtypes, {"y": (seed, arrays.address(seed, False))}))
        filled(made)
        assert made.sizes == (x.nbytes, 8, y.nbytes, z.nbytes)
        assert {name: (each.shape, each.dtype) for name, each in made.results.items()} == {
            "x": (x.shape, SINGLE),
            "by": ((), DOUBLE),
            "z": (z.shape, DOUBLE),
        }
        assert all(not each.any() for each in made.results.values())
        assert [arrays.address(made.results[name], True) for name in ("x", "by", "z")] == [
            made.shadows[at] for at in (0, 1, 3)
        ]
        np.testing.assert_array_equal(content(made.shadows[2], seed), seed)
        np.testing.assert_array_equal(content(made.copies[1], z), z)
        spans = sorted(zip([*made.shadows, *made.copies], [*made.sizes, y.nbytes, z.nbytes], strict=True))
        assert all(start + size <= after for (start, size), (after, _) in pairwise(spans))
    assert len(asked.layouts) == 1


def test_small_arrays_are_set_to_zero_at_once_and_large_ones_share_nothing() -> None:
    types = (SINGLE, DOUBLE, SINGLE, DOUBLE)
    small, large = (
        layout_of(wanted(), given((np.ones(n, SINGLE), 2.0, np.ones(n, SINGLE), np.ones(n)), types, {}))
        for n in (64, 1 << 20)
    )
    assert (len(small.blocks), len(small.zeros)) == (1, 1)
    assert (len(large.blocks), len(large.zeros)) == (6, 3)
    assert all(offset % 128 == 0 for _, offset in small.shadows)


def test_a_block_of_one_type_can_be_cut_without_a_cast() -> None:
    rows = tuple(WantedShadow(name, at, True, False, True, 8) for at, name in enumerate("ab"))
    arguments, types = (np.ones(1), np.ones(3), np.ones(1, SINGLE)), (DOUBLE, DOUBLE, SINGLE)
    assert layout_of(Wanted(rows, ()), given(arguments, types, {})).blocks[0].dtype is DOUBLE
    assert layout_of(Wanted(rows, ((2, True),)), given(arguments, types, {})).blocks[0].dtype is None


@pytest.mark.parametrize("dtypes", [("float32", "float64", "float32", "float64"), ("float32",) * 4])
@pytest.mark.parametrize("count", [3, 300_000])
def test_tensors_are_cut_from_blocks(dtypes: tuple[str, ...], count: int) -> None:
    torch = pytest.importorskip("torch")
    from enzyme_driver.runtime.call.libraries import TorchArrays

    class OnHost(TorchArrays):
        def address(self, array: Any, writable: bool) -> int:  # noqa: ANN401
            del writable
            return int(array.data_ptr())

    kinds, arrays = tuple(getattr(torch, name) for name in dtypes), OnHost(torch)
    x, y, z = torch.ones((2, count), dtype=kinds[0]), torch.ones(count, dtype=kinds[2]), torch.ones(count)
    z, seed = z.to(kinds[3]), torch.full((count,), 2, dtype=kinds[2])
    rows = wanted(tuple(kind.itemsize for kind in kinds))
    made = arrays.memory(rows, given((x, 2.0, y, z), kinds, {"y": (seed, seed.data_ptr())}))
    filled(made)
    for name, like, at in (("x", x, 0), ("z", z, 3)):
        found = made.results[name]
        assert (found.shape, found.dtype, found.is_contiguous()) == (like.shape, like.dtype, True)
        assert found.data_ptr() == made.shadows[at]
        assert not found.any()
    made.results["x"].add_(1)
    assert made.results["z"]._version == 0  # what changes one is nothing to the others


class HostDriver:
    """A driver whose GPU is the host: y += alpha x backwards, called with the addresses of its arguments."""

    CUresult = SimpleNamespace(CUDA_SUCCESS=0)

    def __init__(self) -> None:
        self.queued: list[str] = []

    def cuCtxGetDevice(self) -> tuple[int, int]:  # noqa: N802
        return 0, 0

    def cuMemsetD8Async(self, address: int, value: int, count: int, stream: int) -> tuple[int]:  # noqa: N802
        self.queued.append("zeros")
        ctypes.memset(address, value, count)
        return (stream,)

    def cuMemcpyDtoDAsync(self, target: int, source: int, count: int, stream: int) -> tuple[int]:  # noqa: N802
        self.queued.append("copy")
        ctypes.memmove(target, source, count)
        return (stream,)

    def cuLaunchKernel(self, *arguments: Any) -> tuple[int]:  # noqa: ANN401, N802
        self.queued.append("kernel")
        table = (ctypes.c_void_p * 7).from_address(arguments[-2])
        n = ctypes.c_int32.from_address(table[0] or 0).value
        alpha = ctypes.c_float.from_address(table[1] or 0).value
        pointers = [ctypes.c_void_p.from_address(table[at] or 0).value or 0 for at in range(2, 7)]
        x, y, d_alpha, d_x, d_y = (
            np.ctypeslib.as_array((ctypes.c_float * (1 if at == 2 else n)).from_address(each))
            for at, each in enumerate(pointers)
        )
        y += alpha * x
        d_alpha += float(x @ d_y)
        d_x += alpha * d_y
        return (0,)


def test_a_vjp_on_a_gpu_fills_its_memory_before_its_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = HostDriver()
    for module in (driver, cuda):
        monkeypatch.setattr(module, "api", lambda: fake)
    monkeypatch.setattr(plain, "arrays_of", lambda *_: HostArrays())
    axpy = load(artifact_folder(tmp_path / "a", {"sm_90": b"cubin"}), "cuda").axpy
    code = SimpleNamespace(kernel=lambda *_: SimpleNamespace(handle=1))
    monkeypatch.setattr(axpy._backend, "_code", lambda _: code)
    x, y, seed = np.random.default_rng().standard_normal((3, 5)).astype(SINGLE)
    before = y.copy()
    found = axpy.vjp[1, 5](5, 2.0, x, y, cotangents={"y": seed})
    assert fake.queued == ["zeros", "copy", "copy", "kernel"]
    np.testing.assert_array_equal(y, before)
    np.testing.assert_allclose(found["x"], 2 * seed)
    np.testing.assert_allclose(found["y"], seed)
    np.testing.assert_allclose(found["a"], x @ seed, rtol=1e-5)
