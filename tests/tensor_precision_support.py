"""Products in each precision of a device, beside float64: what each test of them shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from enzyme_driver import tensor as ad
from enzyme_driver.tensor.devices import Name, Precision

ROUNDING: dict[Precision, float] = {"float32": 2**-24, "tf32": 2**-11, "bfloat16": 2**-8, "float16": 2**-11}
"""The largest relative error of one factor."""
SHAPES = ((1, 1, 1), (40, 24, 48), (33, 19, 35), (64, 128, 256), (130, 70, 66))
"""Rows, inner indices and columns: multiples of 16 bytes, and not."""


def normal(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    return rng.normal(size=shape).astype(np.float32)


def check_product(name: Name, precision: Precision, shape: tuple[int, int, int]) -> None:
    """A product and its gradients are as far from float64 as the factors' rounding makes them, and no further."""
    rows, inner, columns = shape
    rng, device = np.random.default_rng(inner), ad.Device(name, precision)
    values = normal(rng, rows, inner), normal(rng, inner, columns)
    weight = normal(rng, rows, columns)
    a, b = (ad.tensor(each, device, requires_grad=True) for each in values)
    product = a @ b
    product.backward(weight)
    assert product.dtype == a.grad.dtype == b.grad.dtype == np.float32
    left, right, of_product = (each.astype(np.float64) for each in (*values, weight))
    _close(product.numpy(), left, right, precision)
    _close(device.to_host(a.grad), of_product, right.T, precision)
    _close(device.to_host(b.grad), left.T, of_product, precision)


def _close(found: NDArray[Any], left: NDArray[Any], right: NDArray[Any], precision: Precision) -> None:
    """Errors of two factors, and of as many additions in float as there are summands."""
    bound = (2.1 * ROUNDING[precision] + (2 + left.shape[1]) * ROUNDING["float32"]) * (abs(left) @ abs(right))
    assert (abs(found - left @ right) <= bound).all()
