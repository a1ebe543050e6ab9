"""Operators whose arrays may be split along an axis: what the description says of it, and PyTorch's DTensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import operators_under_test as ops
import pytest

import enzyme_driver as adgen
from enzyme_driver.frameworks import Array, Launch, Operator, cdiv, operator

pytestmark = pytest.mark.usefixtures("toolchain")
ROWS, COLUMNS = 6, 4


def described(split: Any, name: str = "layer_norm_in_parts") -> Operator:
    """Layer norm, whose rows have nothing to do with each other."""

    @operator(ops.FILE, kernel="layer_norm", split=split, name=name)
    def layer_norm_in_parts(launch: Launch, x: Array, gamma: Array, beta: Array) -> Any:
        rows, cols = x.shape
        y = launch.empty_like(x)
        return launch(grid=cdiv(rows, 4), block=4, args=(x, gamma, beta, y, rows, cols, 1e-5), outputs=y)

    layer_norm_in_parts.code.path = ops.layer_norm.code.path
    return layer_norm_in_parts


ROWS_ALONE = described({"x": 0, "return": 0})


def arrays() -> tuple[Any, ...]:
    rng = np.random.default_rng()
    return tuple(rng.standard_normal(shape).astype(np.float32) for shape in ((ROWS, COLUMNS), COLUMNS, COLUMNS))


@pytest.mark.parametrize(
    ("split", "message"),
    [({"z": 0}, "has no array 'z'"), ({}, "along no axis"), ({"x": 0, "return": (0, 0)}, "one a result in 'return'")],
)
def test_what_cannot_be_said(split: Any, message: str) -> None:
    with pytest.raises(adgen.UsageError, match=message):
        described(split)


def test_what_is_said_is_checked() -> None:
    ROWS_ALONE.check_split(*arrays())
    ROWS_ALONE.check_split(*arrays(), parts=4)
    with pytest.raises(adgen.UsageError, match="of 2 parts is not that of the whole"):
        described({"x": 1, "gamma": 0, "beta": 0, "return": 1}, "wrong_parts").check_split(*arrays())
    with pytest.raises(adgen.UsageError, match="is not said to be split"):
        ops.layer_norm.check_split(*arrays())


@pytest.fixture(scope="module")
def mesh() -> Iterator[Any]:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from torch import distributed
    from torch.distributed.device_mesh import init_device_mesh

    assert torch
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    distributed.destroy_process_group()


def test_tensors_of_several_devices(mesh: Any) -> None:
    """One device here; examples/distributed/training.py has four."""
    import torch
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    host = [torch.from_numpy(each) for each in arrays()]
    plain = [each.clone().requires_grad_() for each in host]
    placements = [[Shard(0)], [Replicate()], [Replicate()]]
    shared = [distribute_tensor(each, mesh, at).requires_grad_() for each, at in zip(host, placements, strict=True)]
    for _ in range(2):
        found, wanted = ROWS_ALONE.torch(*shared), ROWS_ALONE.torch(*plain)
        assert found.placements == (Shard(0),)
        torch.testing.assert_close(found.full_tensor(), wanted)
        gradients = torch.autograd.grad(found.sum(), shared), torch.autograd.grad(wanted.sum(), plain)
        for one, other in zip(*gradients, strict=True):
            torch.testing.assert_close(one.full_tensor(), other)


def test_what_may_not_be_split_is_an_error(mesh: Any) -> None:
    import torch
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    x, gamma, beta = (torch.from_numpy(each) for each in arrays())
    whole = [distribute_tensor(each, mesh, [Replicate()]) for each in (gamma, beta)]
    with pytest.raises(adgen.ArgumentError, match="split only along axis 0"):
        ROWS_ALONE.torch(distribute_tensor(x, mesh, [Shard(1)]), *whole)
    with pytest.raises(adgen.ArgumentError, match=r"'gamma' is .* split along no axis"):
        ROWS_ALONE.torch(
            distribute_tensor(x, mesh, [Replicate()]), distribute_tensor(gamma, mesh, [Shard(0)]), whole[1]
        )
    with pytest.raises(adgen.ArgumentError, match="'beta' is a plain tensor"):
        ROWS_ALONE.torch(distribute_tensor(x, mesh, [Shard(0)]), whole[0], beta)
    with pytest.raises(adgen.ArgumentError, match="split along no axis"):
        ops.layer_norm.torch(distribute_tensor(x, mesh, [Shard(0)]), *whole)
