"""What is taken of arrays that threads fill in the order of their arrival."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from enzyme_driver.errors import Location, RefusedError
from enzyme_driver.model import DataType, Parameter, Place, Signature, StructField
from enzyme_driver.runtime.call.arrivals import any_order, check_cotangents, have_one_order
from enzyme_driver.runtime.call.geometry import launch_of

F32 = DataType("float32", "float", 4)
Y = Parameter("y", "pointer", F32, const=False, activity="duplicated", unordered=Place("a.cu", 7))
KERNEL = Signature("compact", "kernel", "compact", (replace(Y, name="x", unordered=None), Y))


@pytest.mark.parametrize(
    ("grid", "block", "threads", "on_host", "on_gpu"),
    [(1, 1, 8, True, True), (1, 32, 8, True, False), (2, 1, 8, False, False), (2, 32, 1, True, False)],
)
def test_launches_of_one_order(grid: int, block: int, threads: int, on_host: bool, on_gpu: bool) -> None:
    launch = launch_of((grid, block))
    assert have_one_order(launch, "openmp", threads) == on_host
    assert have_one_order(launch, "cuda", threads) == on_gpu
    assert have_one_order(launch, "openmp", None) == (grid == 1)
    with any_order():
        assert have_one_order(launch, "cuda", None)


def test_cotangents_that_are_the_same_for_all_elements() -> None:
    for given in (np.zeros(5, np.float32), np.full((2, 3), -1.5, np.float32), np.zeros(0, np.float32)):
        check_cotangents(KERNEL, [("y", given)], "openmp")
    check_cotangents(KERNEL, [("x", np.arange(3, dtype=np.float32))], "openmp")
    for given in (np.arange(3, dtype=np.float32), np.full(2, np.nan, np.float32)):
        with pytest.raises(RefusedError, match=r"compact stores to elements of 'y' in the order") as caught:
            check_cotangents(KERNEL, [("y", given)], "openmp")
        assert caught.value.location == Location("a.cu", 7)


def test_members_count_one_by_one() -> None:
    numbers = DataType("float32 *", "pointer", 8, pointee=F32)
    kind = DataType("Out", "struct", 16, (StructField("a", 0, numbers), StructField("b", 8, numbers)))
    signature = replace(KERNEL, parameters=(replace(Y, name="out", form="struct", dtype=kind),))
    members = {"a": np.ones(2, np.float32), "b": np.zeros(2, np.float32)}
    check_cotangents(signature, [("out", members), ("out.a", members["a"])], "openmp")
    other = np.arange(2, dtype=np.float32)
    for name, given in (("out", {**members, "b": other}), ("out.b", other)):
        with pytest.raises(RefusedError):
            check_cotangents(signature, [(name, given)], "openmp")
