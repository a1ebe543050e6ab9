"""What the scan decides without running a kernel: shapes that chain, memory orders, plans, launches of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from enzyme_driver.errors import ArgumentError, DeviceError, RefusedError, UsageError
from enzyme_driver.model import DataType, Parameter, Signature
from enzyme_driver.runtime.transforms.batch import Advance, Batch
from enzyme_driver.scan import cost, cotangents, kernels
from enzyme_driver.scan.chain import ORDERS, chain
from enzyme_driver.scan.memory import room

pytestmark = pytest.mark.unit
F32 = DataType("float32", "float", 4)


@pytest.mark.parametrize("order", ORDERS)
def test_a_chain_is_taken_as_it_lies_in_memory(order: tuple[int, ...]) -> None:
    shape = (5, 3, 4, 4)
    memory = np.zeros([shape[axis] for axis in order], np.float32)
    given = chain(memory.transpose(np.argsort(order)))
    assert given.order == order
    assert np.shares_memory(given.memory, memory)
    assert given.strides == tuple(stride // 4 for stride in given.jacobians.strides[:3])


def test_another_order_is_copied() -> None:
    given = chain(np.zeros((4, 4, 3, 5), np.float32).transpose(3, 2, 1, 0))
    assert given.order == ORDERS[0]
    assert given.memory.flags.c_contiguous


@pytest.mark.parametrize(
    ("jacobians", "words"),
    [
        (np.zeros((5, 3, 4, 2)), "no chain of steps"),
        (np.zeros((5, 4, 4)), "no chain of steps"),
        (np.zeros((5, 0, 4, 4)), "no sample"),
        (np.zeros((5, 3, 4, 4), np.float16), "float16"),
        ([[1.0]], "neither a NumPy nor a CuPy array"),
    ],
)
def test_what_is_no_chain(jacobians: Any, words: str) -> None:  # noqa: ANN401
    with pytest.raises(ArgumentError, match=words):
        chain(jacobians)


def test_cotangents_that_do_not_fit() -> None:
    jacobians = np.zeros((5, 3, 4, 4))
    with pytest.raises(ArgumentError, match=r"last .* needs shape \(3, 4\)"):
        cotangents(jacobians, np.zeros((3, 5)))
    with pytest.raises(ArgumentError, match=r"direct .* needs shape \(5, 3, 4\)"):
        cotangents(jacobians, np.zeros((3, 4)), direct=np.zeros((6, 3, 4)))
    with pytest.raises(UsageError, match="no method 'quick'"):
        cotangents(jacobians, np.zeros((3, 4)), method="quick")


def test_no_steps() -> None:
    last = np.ones((3, 4))
    found = cotangents(np.zeros((0, 3, 4, 4)), last)
    assert found.shape == (1, 3, 4)
    assert (found[0] == last).all()


def test_a_long_chain_is_scanned_and_a_short_one_is_not() -> None:
    rates, processors = cost.GPU_PROCESSOR, 132
    long = cost._planned(100_000, 1, 3, 8, False, rates, processors)
    short = cost._planned(8, 16, 20, 4, False, rates, processors)
    assert long.chosen
    assert long.scan_seconds * 20 < long.linear_seconds
    assert not short.chosen


@pytest.mark.parametrize("size", range(1, kernels.SMALL_STATE + 1))
@pytest.mark.parametrize("itemsize", [4, 8])
@pytest.mark.parametrize("direct", [False, True])
def test_a_warp_has_room_for_an_item(size: int, itemsize: int, direct: bool) -> None:
    lanes = -(-(size + direct) // kernels.columns(size, itemsize, direct))
    assert 1 <= lanes <= kernels.WARP


def test_no_room_is_said_in_bytes() -> None:
    with pytest.raises(DeviceError, match=r"the Jacobians.* need 8,000,000,000,000,000 bytes"):
        room(np, (10**15,), np.float64, "the Jacobians")


def _parameter(name: str, form: Any, activity: Any) -> Parameter:  # noqa: ANN401
    return Parameter(name, form, F32, const=False, activity=activity)


def test_launches_of_a_batch_move_their_pointers() -> None:
    parameters = (_parameter("x", "pointer", "duplicated"), _parameter("n", "scalar", "const"))
    signature = Signature("k", "kernel", "k", parameters)
    batch = Batch(2, 2, {"x": Advance(100, 0)}, {"x": Advance(1000, 10)})
    values = ((5000).to_bytes(8, "little"), b"\1\0\0\0", (7000).to_bytes(8, "little"))
    found = [
        (int.from_bytes(x, "little"), n, int.from_bytes(d, "little")) for x, n, d in batch.moved(values, signature)
    ]
    assert found == [(5000, values[1], 7000), (5000, values[1], 7010), (5100, values[1], 8000), (5100, values[1], 8010)]
    assert batch.advances(signature) == [Advance(100, 0), Advance(1000, 10)]


def test_structs_of_pointers_cannot_be_moved() -> None:
    pointers = DataType("Fields", "struct", 8, fields=(), pointee=None)
    inner = DataType("float32*", "pointer", 8, pointee=F32)
    from enzyme_driver.model import StructField

    holding = DataType(pointers.name, "struct", 8, fields=(StructField("rho", 0, inner),))
    signature = Signature("k", "kernel", "k", (Parameter("f", "struct", holding, const=True, activity="duplicated"),))
    with pytest.raises(RefusedError, match="pointers in 'f'"):
        Batch().advances(signature)
