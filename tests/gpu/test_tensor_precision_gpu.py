"""Products of tensors on Tensor Cores, in each precision, beside float64; called and replayed."""

from __future__ import annotations

import numpy as np
import pytest
from tensor_precision_support import ROUNDING, SHAPES, check_product, normal

from enzyme_driver import tensor as ad
from enzyme_driver.tensor.devices import PRECISIONS, Precision

pytest.importorskip("cupy")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("shape", [*SHAPES, (300, 520, 264)])
def test_products_are_as_exact_as_their_factors(precision: Precision, shape: tuple[int, int, int]) -> None:
    check_product("cuda", precision, shape)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_replayed_gradient_is_that_of_calls(precision: Precision) -> None:
    rng, device = np.random.default_rng(2), ad.Device("cuda", precision)
    weight = ad.tensor(normal(rng, 64, 40), device, requires_grad=True)

    def gradient(x: ad.Tensor) -> ad.Tensor:
        weight.grad = None
        loss = ad.sum(ad.relu(x @ weight))
        loss.backward()
        return ad.Tensor(weight.grad, device)

    replay = ad.replayed(gradient, device)
    for _ in range(4):
        values = normal(rng, 32, 64)
        x = ad.tensor(values, device)
        called = gradient(x).numpy()
        # Sums in another order each time: float's are added up by atomics.
        bound = ROUNDING["float32"] * len(values) * abs(values).sum(axis=0)[:, np.newaxis]
        assert (abs(replay(x).numpy() - called) <= (bound if precision == "float32" else 0)).all()
