"""Computations on tensors that are replayed as a CUDA graph."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from enzyme_driver import DeviceError
from enzyme_driver import tensor as ad

pytest.importorskip("cupy")


@pytest.fixture
def device() -> ad.Device:
    return ad.Device("cuda")


@pytest.mark.usefixtures("toolchain")
def test_replays_descend_like_calls(device: ad.Device) -> None:
    rng = np.random.default_rng()
    start = rng.normal(size=(6, 3)).astype(np.float32)
    images, wanted = rng.normal(size=(5, 8, 6)).astype(np.float32), rng.normal(size=(5, 8, 3)).astype(np.float32)

    def descent(*, replay: bool) -> tuple[list[float], NDArray[np.float32]]:
        weight = ad.tensor(start, device, requires_grad=True)

        def step(x: ad.Tensor, y: ad.Tensor) -> ad.Tensor:
            loss = ad.sum((ad.relu(x @ weight) - y) ** 2.0)
            loss.backward()
            weight.data -= 0.01 * weight.grad
            weight.grad = None
            return loss

        run = ad.replayed(step, device) if replay else step
        losses = [run(ad.tensor(x, device), ad.tensor(y, device)).item() for x, y in zip(images, wanted, strict=True)]
        return losses, weight.numpy()

    (called, by_calls), (replayed, by_replays) = descent(replay=False), descent(replay=True)
    assert len(set(called)) == len(images)
    np.testing.assert_allclose(replayed, called, rtol=1e-5)
    np.testing.assert_allclose(by_replays, by_calls, rtol=1e-4)


@pytest.mark.usefixtures("toolchain")
def test_numbers_read_inside_are_an_error(device: ad.Device) -> None:
    run = ad.replayed(lambda x: x * ad.sum(x).item(), device)
    x = ad.tensor(np.ones((2, 2), np.float32), device)
    run(x)
    with pytest.raises(DeviceError, match="cannot be recorded"):
        run(x)
