"""Arrays that threads fill in the order of their arrival are told, and no cotangent of another launch is taken."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.errors import RefusedError
from enzyme_driver.frameworks import Array, Launch
from enzyme_driver.runtime.kernel import Kernel

SOURCE = Path(__file__).with_name("arrivals.cu")
MORE = Path(__file__).with_name("arrivals_more.cu")
N, GRID = 256, (8, 32)


@pytest.fixture(scope="module")
def module(toolchain: object) -> adgen.Module:
    del toolchain
    return adgen.compile(SOURCE)


@pytest.fixture(scope="module")
def more(toolchain: object) -> adgen.Module:
    del toolchain
    return adgen.compile(MORE)


def kernels(source: Path) -> list[str]:
    return re.findall(r"__global__ void (\w+)\(", source.read_text(encoding="utf-8"))


@pytest.fixture
def compact(module: adgen.Module) -> Kernel:
    kernel = module["no_compact"]
    assert isinstance(kernel, Kernel)
    return kernel


@pytest.fixture
def x() -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.random.default_rng(4).random(N, np.float32)


@pytest.mark.parametrize("name", [*kernels(SOURCE), *kernels(MORE)])
def test_who_stores_in_the_order_of_arrival_is_told(module: adgen.Module, more: adgen.Module, name: str) -> None:
    entry = module[name] if name in kernels(SOURCE) else more[name]
    told = [each.name for each in entry.signature if each.unordered]
    assert bool(told) == name.startswith("no_"), told


def test_the_place_is_told(compact: Kernel) -> None:
    place = compact.signature["y"].unordered
    assert place
    line = SOURCE.read_text(encoding="utf-8").splitlines()[place.line - 1]
    assert (Path(place.file), "y[atomicAdd(count, 1)]" in line) == (SOURCE, True)


def arguments(x: np.ndarray[tuple[int], np.dtype[np.float32]]) -> tuple[object, ...]:
    return x, np.zeros(1, np.int32), np.zeros(N, np.float32), N


def test_a_cotangent_of_another_launch_is_refused(
    compact: Kernel, x: np.ndarray[tuple[int], np.dtype[np.float32]]
) -> None:
    with adgen.threads(2):
        with pytest.raises(RefusedError, match=r"order in which threads arrive.*cotangent of 'y'") as caught:
            compact.vjp[GRID](*arguments(x), cotangents={"y": x}, wrt="x")
        assert caught.value.location
        assert "scan" in caught.value.hint
        with pytest.raises(RefusedError, match="order in which threads arrive"):
            compact.vjp[GRID](*arguments(x), cotangents={"y": np.stack([x, x])}, directions=2)
        with pytest.raises(RefusedError, match="order in which threads arrive"):
            compact.gradient[GRID](*arguments(x), shadows={"x": np.zeros_like(x), "y": x.copy()})
        with pytest.raises(RefusedError, match="prepared"):
            compact.gradient[GRID].prepare(*arguments(x), shadows={"x": np.zeros_like(x), "y": x.copy()})
        with adgen.Tape(), pytest.raises(RefusedError, match="tape"):
            compact[GRID](*arguments(x))


def test_what_depends_on_no_order_is_taken(compact: Kernel, x: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
    expected = np.where(x > 0.5, 6 * x, 0)
    with adgen.threads(2):
        found = compact.vjp[GRID](*arguments(x), cotangents={"y": np.full_like(x, 3)}, wrt="x")
        assert np.allclose(found["x"], expected)
        rows = np.stack([np.full_like(x, 3), np.full_like(x, -1)])
        both = compact.vjp[GRID](*arguments(x), cotangents={"y": rows}, wrt="x", directions=2)
        assert np.allclose(both["x"], [expected, -expected / 3])
        assert not compact.vjp[GRID](*arguments(x), cotangents={}, wrt="x")["x"].any()


def test_one_order_is_taken(compact: Kernel, x: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
    values = arguments(x)
    with adgen.threads(1):
        compact[GRID](*values)
        kept = np.flatnonzero(x > 0.5)
        assert np.allclose(values[2][: kept.size], x[kept] ** 2)  # type: ignore[index]
        weights = np.random.default_rng(5).random(N, np.float32)
        found = compact.vjp[GRID](*arguments(x), cotangents={"y": weights}, wrt="x")["x"]
    expected = np.zeros_like(x)
    expected[kept] = 2 * x[kept] * weights[: kept.size]
    assert np.allclose(found, expected)
    block = compact.vjp[1, 32](*arguments(x), cotangents={"y": weights}, wrt="x")["x"]
    kept = kept[kept < 32]
    expected[:] = 0
    expected[kept] = 2 * x[kept] * weights[: kept.size]
    assert np.allclose(block, expected)


def test_it_is_verified_and_checked(
    compact: Kernel, x: np.ndarray[tuple[int], np.dtype[np.float32]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADGEN_VERIFY", "always")
    kernel = adgen.compile(SOURCE, kernel="no_compact")
    with adgen.threads(2):
        found = kernel.vjp[GRID](*arguments(x), cotangents={"y": np.ones_like(x)}, wrt="x")
        assert np.allclose(found["x"], np.where(x > 0.5, 2 * x, 0))
        away = np.where(np.abs(x - 0.5) < 0.1, np.float32(0.9), x)
        assert compact.check[GRID](*arguments(away)).agrees


def test_an_operator_refuses_its_gradient_alone(x: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
    @adgen.operator(SOURCE, kernel="no_compact")
    def compacted(launch: Launch, x: Array) -> Any:  # noqa: ANN401
        y, count = launch.zeros(x.size, x.dtype), launch.zeros(1, "int32")
        return launch(grid=8, block=32, args=(x, count, y, N), outputs=y)

    assert np.allclose(np.sort(np.asarray(compacted(x)))[-(x > 0.5).sum() :], np.sort(x[x > 0.5]) ** 2)
    with pytest.raises(
        RefusedError,
        match=r"arrivals\.cu:\d+: the operator compacted: no_compact stores to elements of 'y' in the order",
    ):
        compacted.vjp(x, cotangents=x)


QUEUE = Path(__file__).with_name("queues.cu")


@adgen.operator(QUEUE)
def picked(launch: Launch, x: Array, key: Array) -> Any:  # noqa: ANN401
    """In the order of the queue."""
    count, queue, y = launch.zeros(1, "int32"), launch.zeros(N, "int32"), launch.zeros(N, x.dtype)
    launch(kernel="queue", grid=8, block=32, args=(key, count, queue, N))
    return launch(kernel="pick", grid=8, block=32, args=(x, queue, count, y), outputs=y)


@adgen.operator(QUEUE)
def scattered(launch: Launch, x: Array, key: Array) -> Any:  # noqa: ANN401
    """In the order of the elements."""
    count, queue, y = launch.zeros(1, "int32"), launch.zeros(N, "int32"), launch.zeros(N, x.dtype)
    launch(kernel="queue", grid=8, block=32, args=(key, count, queue, N))
    return launch(kernel="scatter", grid=8, block=32, args=(x, queue, count, y), outputs=y)


@adgen.operator(QUEUE)
def near(launch: Launch, x: Array) -> Any:  # noqa: ANN401
    """Sums over cells, whose entries have no order."""
    count, cells, y = launch.zeros(8, "int32"), launch.zeros(8 * N, "int32"), launch.zeros(N, x.dtype)
    launch(kernel="cells", grid=8, block=32, args=(x, count, cells, N))
    return launch(kernel="near", grid=8, block=32, args=(x, count, cells, y, N), outputs=y)


def test_an_operator_whose_result_has_the_order_of_a_queue_is_refused(
    x: np.ndarray[tuple[int], np.dtype[np.float32]], toolchain: object
) -> None:
    del toolchain
    key = (x > 0.5).astype(np.int32)
    assert np.allclose(np.sort(np.asarray(picked(x, key)))[-key.sum() :], np.sort(x[key > 0]) ** 2)
    with pytest.raises(RefusedError, match=r"queues\.cu:\d+: the operator picked: queue fills 'queue' in the order"):
        picked.vjp(x, key, cotangents=x)


def test_an_operator_whose_result_is_the_same_for_every_order_is_not(
    x: np.ndarray[tuple[int], np.dtype[np.float32]], toolchain: object
) -> None:
    del toolchain
    key, weight = (x > 0.5).astype(np.int32), np.random.default_rng(7).random(N, np.float32)
    found = scattered.vjp(x, key, cotangents=weight)["x"]
    assert np.allclose(found, 2 * x * weight * key)
    cell = (x * 8).astype(int)
    apart = (x[:, None] - x[None, :]) * (cell[:, None] == cell[None, :])
    expected = 2 * (apart * (weight[:, None] + weight[None, :])).sum(1)
    assert np.allclose(near.vjp(x, cotangents=weight)["x"], expected, rtol=1e-3, atol=1e-4)


def test_a_tape_that_runs_a_queue_again_refuses_what_has_its_order(
    x: np.ndarray[tuple[int], np.dtype[np.float32]], toolchain: object
) -> None:
    del toolchain
    fill, pick, scatter = (adgen.compile(QUEUE, kernel=name) for name in ("queue", "pick", "scatter"))
    count, queue, y = np.zeros(1, np.int32), np.zeros(N, np.int32), np.zeros_like(x)
    key, weight = np.ones(N, np.int32), np.random.default_rng(8).random(N, np.float32)
    with adgen.threads(2), adgen.Tape() as tape:
        fill[GRID](key, count, queue, N)
        pick[GRID](x, queue, count, y)
    expected = np.zeros_like(x)
    expected[queue] = 2 * x[queue] * weight
    assert np.allclose(tape.gradient(y, wrt=x, cotangents=weight), expected)
    count[:] = 0
    with adgen.threads(2), adgen.Tape(memory_limit=2**20):
        fill[GRID](key, count, queue, N)
        scatter[GRID](x, queue, count, y)
        with pytest.raises(RefusedError, match=r"queues\.cu:\d+: pick on a tape with a memory_limit"):
            pick[GRID](x, queue, count, y)
