"""Steps of training by any of the methods; on a GPU a step is one CUDA graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from enzyme_driver.likelihood_ratio.estimate import Gradients, deferred, refuse
from enzyme_driver.likelihood_ratio.noise import STEP, Noise
from enzyme_driver.likelihood_ratio.primitives import Array
from enzyme_driver.tensor.devices import Device
from enzyme_driver.tensor.replay import Record, recorded

Gradient = Callable[..., Gradients]
"""Of the arrays of a batch, and of the noise of the step."""

DECAY = (0.9, 0.999)
"""Of Adam's means and of its squares."""


class Trainer:
    """Adam (Kingma and Ba, 2015, with their constants) by the gradients that `gradient(*arrays, noise)` gives.

    On a GPU the first step runs as it is, the second is recorded as a CUDA graph, and later ones replay it; arrays then
    have the shapes of the first ones. Each step has its own noise, the same with a graph and without.
    """

    def __init__(self, device: Device, thetas: Sequence[Array], rate: float, gradient: Gradient, noise: Noise) -> None:
        arrays = device.arrays
        self._device, self._thetas, self._rate, self._gradient = device, list(thetas), rate, gradient
        self._moments = [(arrays.zeros_like(theta), arrays.zeros_like(theta)) for theta in self._thetas]
        self._on_gpu = device.name == "cuda"
        self._stream: Any = arrays.cuda.Stream(non_blocking=True) if self._on_gpu else None
        self._seed = device.from_host([noise.seed], np.uint32)
        self._count, self._found = device.from_host([0], np.int64), device.from_host([-1, 1], np.int64)
        self._noise = replace(noise, counter=self._seed)
        self._steps = 0
        self._record: Record | None = None

    def step(self, *arrays: Array) -> None:
        """One step by a batch. Raises ArgumentError where a loss is not finite, on the host before the update."""
        if not self._on_gpu:
            self._run(*arrays)
        elif self._steps == 0:
            self._device.synchronize()
            with self._stream:  # on which it is recorded later
                self._run(*arrays)
            self._device.synchronize()
        else:
            self._record = self._record or recorded(self._run, self._device, arrays, self._stream)
            self._record.replay(arrays)
        self._steps += 1

    def check(self) -> None:
        """Raises ArgumentError where a loss was not finite on the GPU; since then there were no updates."""
        row, samples = self._device.to_host(self._found).tolist()
        if row >= 0:
            refuse(row, samples)

    def _run(self, *arrays: Array) -> None:
        self._seed += np.uint32(STEP)
        self._count += 1
        if not self._on_gpu:
            self._update_on_host(self._gradient(*arrays, self._noise).thetas)
            return
        with deferred(self._found):
            gradients = self._gradient(*arrays, self._noise).thetas
        for theta, gradient, moments in zip(self._thetas, gradients, self._moments, strict=True):
            _adam()(gradient, self._count, self._found, self._rate, theta, *moments)

    def _update_on_host(self, gradients: Sequence[Array]) -> None:
        count, (slow, slower) = int(self._count[0]), DECAY
        scale = self._rate * (1 - slower**count) ** 0.5 / (1 - slow**count)
        for theta, gradient, (mean, square) in zip(self._thetas, gradients, self._moments, strict=True):
            mean[:] = slow * mean + (1 - slow) * gradient
            square[:] = slower * square + (1 - slower) * gradient * gradient
            theta[:] = theta - scale * mean / (np.sqrt(square) + 1e-8)


@cache
def _adam() -> Any:  # noqa: ANN401
    import cupy  # type: ignore[import-not-found, unused-ignore]

    slow, slower = DECAY
    code = f"""
    if (found[0] < 0) {{
        double steps = count[0];
        T scale = rate * sqrt(1 - pow({slower}, steps)) / (1 - pow({slow}, steps));
        mean = T({slow}) * mean + T({1 - slow}) * gradient;
        square = T({slower}) * square + T({1 - slower}) * gradient * gradient;
        theta -= scale * mean / (sqrt(square) + T(1e-8));
    }}"""
    given = "T gradient, raw int64 count, raw int64 found, float64 rate"
    return cupy.ElementwiseKernel(given, "T theta, T mean, T square", code, "adam")
