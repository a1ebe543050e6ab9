"""What factors of matrix products are rounded to: as Tensor Cores take them on a GPU, as float32 on the host."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enzyme_driver.tensor.devices import Device, Precision

Array = Any
ALIGNED = 16
"""Bytes that a product copies at a time."""
BITS = {"tf32": 13, "bfloat16": 16}
"""Of float32 that the format does not have."""


def rounded(device: Device, array: Array) -> Array:
    """The array in the device's precision: one that is already rounded stays as it is.

    On a GPU float16, bfloat16 as 16-bit words, or float32, of which the product itself takes tf32.
    """
    if device.name != "cuda":
        return _on_host(array, device.precision)
    if device.precision == "float16":
        array = array.astype(np.float16, copy=False)
    elif device.precision == "bfloat16" and array.dtype != np.uint16:
        array = _to_bfloat16()(array)
    return array if array.data.ptr % ALIGNED == 0 else array.copy()


def _on_host(array: NDArray[np.float32], precision: Precision) -> NDArray[np.float32]:
    if precision == "float16":
        with np.errstate(over="ignore"):  # infinity, as on a GPU
            return array.astype(np.float16).astype(np.float32)
    lost = BITS[precision]
    bits = np.ascontiguousarray(array).view(np.uint32)
    added: Any = np.uint32(1 << (lost - 1))
    if precision == "bfloat16":  # ties to even, those of tf32 away from zero
        added = added - np.uint32(1) + (bits >> np.uint32(lost) & np.uint32(1))
    found: NDArray[np.float32] = ((bits + added) >> np.uint32(lost) << np.uint32(lost)).view(np.float32)
    return np.where(np.isfinite(array), found, array)


@cache
def _to_bfloat16() -> Any:  # noqa: ANN401
    import cupy  # type: ignore[import-not-found, unused-ignore]

    code = """
    unsigned bits = __float_as_uint(x);
    word = isnan(x) ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;"""
    return cupy.ElementwiseKernel("float32 x", "uint16 word", code, "to_bfloat16")
