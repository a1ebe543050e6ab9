"""The constructs of maxima and minima that threads make by atomics."""

from __future__ import annotations

from typing import Any

import numpy as np
from constructs.construct import Construct

C = Construct


def full(number: float, dtype: type = np.float32) -> Any:  # noqa: ANN401
    return lambda _: np.full(64, number, dtype)


EXTREMES = (
    C("maximum of floats by `atomicCAS`", "cas_max_float", {"largest": full(0)}),
    C("maximum of doubles by `atomicCAS`, selected", "cas_max_selected", {"largest": full(0, np.float64)}),
    C("minimum of doubles by `atomicCAS`, compared first", "cas_min_double", {"smallest": full(9, np.float64)}),
    C("maximum of floats by `atomicCAS`, read by an atomic", "cas_max_read_first", {"largest": full(0)}),
    C(
        "maxima and minima by `atomicCAS`, tried again while what was there is smaller (larger)",
        "extremes_tried_again",
        {"largest": full(0), "smallest": full(9)},
    ),
    C("maximum that no thread changes", "cas_max_float", {"largest": full(9)}, flat=frozenset({"x"})),
    C("maximum of floats by `atomicMax` on their bits", "max_by_integer_bits", {"largest": full(0)}),
    C("the same of either sign", "max_by_bits_of_either_sign", {"largest": full(-3)}),
    C("maximum by atomics of what is asked first", "maximum_asked_first", {"largest": full(0)}),
    C("the same by `atomicCAS`", "maximum_tried_last", {"largest": full(0)}),
    C("maximum by atomics in shared memory", "maximum_in_shared_memory"),
    C("the same of bits in a `__shared__` array of integers", "maximum_of_bits_in_shared_memory"),
    C(
        "softmax of rows, its maximum by atomics in shared memory",
        "softmax_of_rows",
        {"columns": 16, "n": 64},
        shared_bytes=4 * 18,
    ),
    C("maximum by atomics, then a sum, in one `__shared__` variable", "maximum_then_sum"),
    C("minima by `atomicCAS` in shared memory, one after the other", "minima_in_turns"),
    C("maximum of blocks by `atomicMax` on its bits", "maximum_of_blocks", {"largest": full(0)}),
    C("place of a maximum by `atomicMax` on its bits with the place beside them", "place_of_maximum"),
    C(
        "maximum by atomics of what is read before all threads have come, or declared as an integer in a struct",
        "maximum_read_again",
        refused="a maximum or minimum by atomics",
        also=("maximum_without_barrier", "maximum_beside_integers"),
    ),
)
