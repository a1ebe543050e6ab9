"""A network of three layers on tensors whose gradients adgen compiles, and the same in PyTorch."""

from __future__ import annotations

from functools import cache, partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from enzyme_driver import tensor as ad

Floats = NDArray[np.float32]
Weights = list[Floats]


class Network(Protocol):
    """What is trained: one step of gradient descent at a time."""

    def step(self, images: Any, chosen: Any, rate: float) -> float:  # noqa: ANN401
        """Descend once; the loss before. `images`: (count, pixels), `chosen`: (count, classes), from `place`."""

    def place(self, values: Floats) -> Any:  # noqa: ANN401
        """The numbers on the network's device."""

    def classify(self, images: Any) -> NDArray[np.int64]: ...  # noqa: ANN401

    def synchronize(self) -> None: ...


def initial_weights(extents: list[int], rng: np.random.Generator) -> Weights:
    """Matrices and biases of every layer; variance 2 / inputs, as He et al. propose for ReLU."""
    weights: Weights = []
    for inputs, outputs in pairwise(extents):
        weights.append((rng.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs)).astype(np.float32))
        weights.append(np.zeros((1, outputs), np.float32))
    return weights


class AdgenNetwork:
    """On one of adgen's devices: cpu, openmp or cuda. `precision` is that of the matrix products."""

    def __init__(self, weights: Weights, device: str, precision: str = "float32") -> None:
        self._device = ad.Device(device, precision)  # type: ignore[arg-type]
        self._weights = [ad.tensor(value, self._device, requires_grad=True) for value in weights]
        self._descend = cache(lambda rate: ad.replayed(partial(self._descended, rate), self._device))

    def place(self, values: Floats) -> ad.Tensor:
        return ad.tensor(values, self._device)

    def _logits(self, images: ad.Tensor) -> ad.Tensor:
        last = len(self._weights) - 2
        for at in range(0, last + 1, 2):
            images = images @ self._weights[at] + self._weights[at + 1]
            if at < last:
                images = ad.relu(images)
        return images

    def step(self, images: ad.Tensor, chosen: ad.Tensor, rate: float) -> float:
        return self._descend(rate)(images, chosen).item()

    def _descended(self, rate: float, images: ad.Tensor, chosen: ad.Tensor) -> ad.Tensor:
        loss = ad.negative_log_likelihood(ad.log_softmax(self._logits(images)), chosen)
        loss.backward()
        for weight in self._weights:
            weight.data -= weight.dtype.type(rate) * weight.grad
            weight.grad = None
        return loss

    def classify(self, images: ad.Tensor) -> NDArray[np.int64]:
        with ad.no_grad():
            return self._logits(images).numpy().argmax(1)

    def synchronize(self) -> None:
        self._device.synchronize()


class TorchNetwork:
    """In PyTorch's eager mode."""

    def __init__(self, weights: Weights, device: str) -> None:
        import torch

        self._torch, self._device = torch, "cuda" if device == "cuda" else "cpu"
        self._weights = [torch.tensor(value, device=self._device, requires_grad=True) for value in weights]

    def place(self, values: Floats) -> Any:  # noqa: ANN401
        return self._torch.tensor(values, device=self._device)

    def _logits(self, images: Any) -> Any:  # noqa: ANN401
        last = len(self._weights) - 2
        for at in range(0, last + 1, 2):
            images = images @ self._weights[at] + self._weights[at + 1]
            if at < last:
                images = self._torch.relu(images)
        return images

    def step(self, images: Any, chosen: Any, rate: float) -> float:  # noqa: ANN401
        loss = -(self._torch.log_softmax(self._logits(images), 1) * chosen).sum() / len(images)
        loss.backward()
        with self._torch.no_grad():
            for weight in self._weights:
                weight.sub_(rate * weight.grad)
                weight.grad = None
        return float(loss.detach())

    def classify(self, images: Any) -> NDArray[np.int64]:  # noqa: ANN401
        with self._torch.no_grad():
            return self._logits(images).argmax(1).cpu().numpy()

    def synchronize(self) -> None:
        if self._device == "cuda":
            self._torch.cuda.synchronize()
