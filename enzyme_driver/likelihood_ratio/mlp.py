"""Networks of fully connected layers, with gradients by back-propagation and by likelihood ratios."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.likelihood_ratio import primitives
from enzyme_driver.likelihood_ratio.estimate import Gradients, Method, checked, finite, weights
from enzyme_driver.likelihood_ratio.noise import Draw, Noise
from enzyme_driver.likelihood_ratio.primitives import Activation, Array
from enzyme_driver.tensor.devices import Device


class MLP:
    """Layers z = h theta + bias, `activation` between them, softmax and cross entropy behind the last.

    `thetas` holds for each layer a matrix (inputs + 1, outputs) whose last row is the bias. He's initial weights for
    relu, Glorot's for tanh.
    """

    def __init__(
        self,
        extents: Sequence[int],
        device: Device,
        *,
        activation: Activation = "relu",
        seed: int = 0,
        dtype: type[np.floating[Any]] = np.float32,
    ) -> None:
        rng = np.random.default_rng(seed)
        gain = 2.0 if activation == "relu" else 1.0
        self.device = device
        self.activations: list[Activation] = [*[activation] * (len(extents) - 2), "linear"]
        self.thetas = [
            device.from_host(np.vstack([rng.normal(0, np.sqrt(gain / a), (a, b)), np.zeros((1, b))]), np.dtype(dtype))
            for a, b in pairwise(extents)
        ]

    def logits(self, x: Array) -> Array:
        """Shape (samples, classes)."""
        return self._clean(x)[-1]

    def gradient(
        self,
        x: Array,
        labels: Array,
        method: Method = "BP",
        noise: Noise | None = None,
        cuts: Sequence[int] | None = None,
    ) -> Gradients:
        """The derivative of the mean cross entropy of a batch: `x` (samples, inputs), `labels` int32 (samples).

        "BP": compiled back-propagation. "LR-F": all layers are perturbed in one forward. "LR-L": one layer after the
        other. "LR-M": the outputs of the layers `cuts` are perturbed, one after the other (default: one, in the
        middle), and compiled back-propagation runs inside each segment between them. All but the first need `noise`.
        Estimates are unbiased: the weight of a copy is its loss less the loss without noise, which no noise enters.
        Raises ArgumentError, also where a loss is not finite (the copy is named).
        """
        drawn = checked(method, noise)
        outputs = self._clean(x)
        losses = primitives.cross_entropy(self.device, outputs[-1], labels)
        loss = float(losses.mean())
        finite(self.device, losses, len(labels), range(1))
        if drawn is None:
            return Gradients(loss, self._back(outputs, self._last(outputs, labels), range(len(self.thetas))))
        if method == "LR-F":
            return Gradients(loss, self._all_at_once(x, labels, losses, drawn))
        layers = list(range(len(self.thetas))) if method == "LR-L" else self._cuts(cuts)
        return Gradients(loss, self._by_segments(outputs, labels, losses, drawn, layers, exact=method == "LR-M"))

    def _clean(self, x: Array) -> list[Array]:
        """The input and what each layer makes of it."""
        outputs = [x]
        for theta, activation in zip(self.thetas, self.activations, strict=True):
            outputs.append(primitives.dense(self.device, outputs[-1], theta, activation))
        return outputs

    def _last(self, outputs: list[Array], labels: Array) -> Array:
        return primitives.cross_entropy_gradient(self.device, outputs[-1], labels)

    def _back(self, outputs: list[Array], cotangent: Array, layers: range, *, linear: bool = False) -> list[Array]:
        """Back-propagation from the output of the last of `layers`; `linear`: the cotangent is of z, not of h."""
        found: list[Array] = []
        for layer in reversed(layers):
            activation: Activation = "linear" if linear and layer == layers[-1] else self.activations[layer]
            x, theta, inputs = outputs[layer], self.thetas[layer], layer > layers[0]
            out = outputs[layer + 1].copy()
            below, of_theta = primitives.dense_gradient(
                self.device, x, theta, activation, out, cotangent, inputs=inputs
            )
            found.insert(0, of_theta)
            cotangent = below
        return found

    def _all_at_once(self, x: Array, labels: Array, losses: Array, noise: Noise) -> list[Array]:
        gradients = [self.device.arrays.zeros_like(theta) for theta in self.thetas]
        for copies in noise.chunks():
            draws = [Draw(noise, layer, len(x), copies) for layer in range(len(self.thetas))]
            outputs = [x]
            for theta, activation, draw in zip(self.thetas, self.activations, draws, strict=True):
                outputs.append(primitives.dense(self.device, outputs[-1], theta, activation, draw))
            weight = self._weights(outputs[-1], labels, losses, noise, copies)
            for h, gradient, draw in zip(outputs, gradients, draws, strict=False):
                primitives.score(self.device, h, weight, gradient, draw)
        return gradients

    def _by_segments(
        self, outputs: list[Array], labels: Array, losses: Array, noise: Noise, layers: Sequence[int], *, exact: bool
    ) -> list[Array]:
        """Perturb the output of each of `layers` alone; the segment that ends there is back-propagated by itself."""
        gradients: list[Array] = []
        first = 0
        for layer in layers:
            cotangent = self._estimated(outputs, labels, losses, noise, layer)
            gradients += self._back(outputs, cotangent, range(first, layer + 1), linear=True)
            first = layer + 1
        if exact:
            gradients += self._back(outputs, self._last(outputs, labels), range(first, len(self.thetas)))
        return gradients

    def _estimated(self, outputs: list[Array], labels: Array, losses: Array, noise: Noise, layer: int) -> Array:
        """The cotangent of what the layer gives before its activation, (samples, outputs)."""
        z = primitives.dense(self.device, outputs[layer], self.thetas[layer], "linear")
        cotangent = self.device.arrays.zeros_like(z)
        for copies in noise.chunks():
            draw = Draw(noise, layer, len(z), copies)
            h = primitives.perturbed(self.device, z, self.activations[layer], draw)
            for theta, activation in zip(self.thetas[layer + 1 :], self.activations[layer + 1 :], strict=True):
                h = primitives.dense(self.device, h, theta, activation)
            weight = self._weights(h, labels, losses, noise, copies)
            primitives.score_cotangent(self.device, weight, cotangent, draw)
        return cotangent

    def _weights(self, logits: Array, labels: Array, losses: Array, noise: Noise, copies: range) -> Array:
        perturbed = primitives.cross_entropy(self.device, logits, labels)
        return weights(self.device, perturbed, losses, noise, copies)

    def _cuts(self, cuts: Sequence[int] | None) -> list[int]:
        last = len(self.thetas) - 1
        wanted = [max(0, last // 2)] if cuts is None else list(cuts)
        if not wanted or wanted != sorted(set(wanted)) or not 0 <= wanted[0] <= wanted[-1] < last:
            raise ArgumentError(
                f"the cuts {wanted} do not part {last + 1} layers", hint=f"give layers from 0 to {last - 1}, in order"
            )
        return wanted
