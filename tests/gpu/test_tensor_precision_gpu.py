"""Products of tensors on Tensor Cores, in each precision, beside float64; called and replayed."""

from __future__ import annotations

import numpy as np
import pytest
from tensor_precision_support import SHAPES, check_product, normal

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
        x = ad.tensor(normal(rng, 32, 64), device)
        called = gradient(x).numpy()
        np.testing.assert_array_equal(replay(x).numpy(), called)
