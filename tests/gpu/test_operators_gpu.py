"""Operators of PyTorch on the GPU: graphs, streams, memory, and what goes wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu_support import artifact_folder

from enzyme_driver.errors import AdgenError, ArgumentError, DeviceError, UsageError
from enzyme_driver.frameworks import Array, Launch, cdiv, operator
from enzyme_driver.runtime.module import Module

torch: Any = pytest.importorskip("torch")
SIZE = 100


def described(folder: Path, name: str) -> Any:
    """y + a * x with a plain number."""

    @operator(folder, kernel="axpy", name=name)
    def axpy(launch: Launch, x: Array, y: Array, a: float = 2.0) -> Any:
        after = launch.copy(y)
        return launch(grid=cdiv(x.size, 32), block=32, args=(x.size, a, x, after), outputs=after)

    return axpy


def described_active(folder: Path, name: str) -> Any:
    """The same with an array without dimensions."""

    @operator(folder, kernel="axpy", name=name)
    def axpy(launch: Launch, a: Array, x: Array, y: Array) -> Any:
        after = launch.copy(y)
        return launch(grid=cdiv(x.size, 32), block=32, args=(x.size, a, x, after), outputs=after)

    return axpy


@pytest.fixture(scope="module")
def axpy(module: Module) -> Any:
    return described(module.artifact.folder, "gpu_axpy").torch


@pytest.fixture(scope="module")
def active(module: Module) -> Any:
    return described_active(module.artifact.folder, "gpu_axpy_active").torch


def tensors(size: int = SIZE) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    made = [torch.tensor(rng.standard_normal(size), dtype=torch.float32, device="cuda") for _ in range(2)]
    return made[0].requires_grad_(), made[1].requires_grad_()


def test_gradients_of_known_calls(active: Any) -> None:
    x, y = tensors()
    a, seed = torch.tensor(3.0, device="cuda", requires_grad=True), torch.randn(SIZE, device="cuda")
    for _ in range(3):
        found = torch.autograd.grad(active(a, x, y), (a, x, y), seed)
        for each, wanted in zip(found, ((x * seed).sum(), 3 * seed, seed), strict=True):
            torch.testing.assert_close(each, wanted)


def test_other_strides_and_no_elements(axpy: Any) -> None:
    x, y = tensors(2 * SIZE)
    for _ in range(2):
        torch.testing.assert_close(axpy(x[::2], y[::2]), y[::2] + 2 * x[::2])
        found = torch.autograd.grad(axpy(x[::2], y[1::2]).sum(), x)[0]
        torch.testing.assert_close(found, torch.tensor([2.0, 0.0], device="cuda").repeat(SIZE))
    empty = torch.empty(0, device="cuda", requires_grad=True)
    assert torch.autograd.grad(axpy(empty, empty).sum(), empty)[0].shape == (0,)


def test_forward_and_backward_in_a_cuda_graph(axpy: Any) -> None:
    x, y = tensors()
    seed = torch.randn(SIZE, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            torch.autograd.grad(axpy(x, y), (x, y), seed)
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        after = axpy(x, y)
        gradients = torch.autograd.grad(after, (x, y), seed)
    with torch.no_grad():
        x.fill_(5.0)
        seed.fill_(0.5)
    graph.replay()
    torch.cuda.synchronize()
    torch.testing.assert_close(after, y + 10)
    torch.testing.assert_close(gradients, (torch.ones_like(x), seed))


def test_it_runs_on_the_current_stream(axpy: Any) -> None:
    x, y = tensors()
    big = torch.randn(4096, 4096, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(30):
            big = big @ big * 1e-4
        late = x.detach() * 0 + 3 + big[0, 0] * 0
        late.requires_grad_()
        seed = late.detach() * 2
        after = axpy(late, y)
        (found,) = torch.autograd.grad(after, late, seed)
        after = after * 1
        found = found * 1
    torch.cuda.synchronize()
    torch.testing.assert_close(after, y + 6)
    torch.testing.assert_close(found, torch.full_like(found, 12.0))


def test_sums_in_any_order_are_refused_where_they_must_not_be(active: Any) -> None:
    x, y = tensors()
    a = torch.tensor(3.0, device="cuda", requires_grad=True)
    made = [active(a, x, y) for _ in range(2)][1]
    torch.use_deterministic_algorithms(True)
    try:
        with pytest.raises(UsageError, match="adds atomically"):
            made.sum().backward()
    finally:
        torch.use_deterministic_algorithms(False)
    active(a, x, y).sum().backward()


def test_memory_is_of_pytorchs_allocator(axpy: Any) -> None:
    x, y = tensors(1 << 20)
    axpy(x, y)
    before = torch.cuda.memory_allocated()
    after = axpy(x, y)
    assert torch.cuda.memory_allocated() - before == after.numel() * 4


@pytest.mark.parametrize("given", ["host", "double", "autocast"])
def test_wrong_tensors_are_said_and_the_next_call_works(axpy: Any, given: str) -> None:
    x, y = tensors()
    with pytest.raises(AdgenError, match="gpu_axpy") as refused, torch.autocast("cuda", enabled=given == "autocast"):
        axpy(x, {"host": y.cpu(), "double": y.double(), "autocast": y.half()}[given])
    assert isinstance(refused.value, UsageError if given == "autocast" else ArgumentError)
    torch.testing.assert_close(axpy(x, y), y + 2 * x)


def test_an_artifact_for_another_gpu(tmp_path: Path, axpy: Any) -> None:
    other = described(artifact_folder(tmp_path / "other", {"sm_200": b""}), "gpu_axpy_other").torch
    x, y = tensors()
    with pytest.raises(DeviceError, match="has code for sm_200"):
        other(x, y)
    torch.testing.assert_close(axpy(x, y), y + 2 * x)
