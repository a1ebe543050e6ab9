"""Networks of fully connected layers, with gradients by back-propagation and by likelihood ratios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.likelihood_ratio import primitives
from enzyme_driver.likelihood_ratio.estimate import Gradients, Method, checked, finite, side_by_side, weights
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
        other. "LR-M": the outputs of the layers `cuts` (default: one, in the middle) are perturbed, each in copies of
        its own in one forward, and compiled back-propagation runs inside the segments between them side by side. All
        but the first need `noise`.
        Estimates are unbiased: the weight of a copy is its loss less the loss without noise, which no noise enters.
        Raises ArgumentError, also where a loss is not finite (the copy is named).
        """
        drawn = checked(method, noise)
        if drawn and method == "LR-M":
            return self._mixed(x, labels, drawn, self._cuts(cuts))
        outputs = self._clean(x)
        losses = primitives.cross_entropy(self.device, outputs[-1], labels)
        finite(self.device, losses, len(labels), range(1))
        if drawn is None:
            found = self._back(outputs, self._last(outputs[-1], labels), range(len(self.thetas)))
        elif method == "LR-F":
            found = self._all_at_once(x, labels, losses, drawn)
        else:
            found = self._one_by_one(outputs, labels, losses, drawn)
        return Gradients(losses, found, len(labels))

    def _clean(self, x: Array) -> list[Array]:
        """The input and what each layer makes of it."""
        outputs = [x]
        for theta, activation in zip(self.thetas, self.activations, strict=True):
            outputs.append(primitives.dense(self.device, outputs[-1], theta, activation))
        return outputs

    def _last(self, logits: Array, labels: Array) -> Array:
        return primitives.cross_entropy_gradient(self.device, logits, labels)

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

    def _one_by_one(self, outputs: list[Array], labels: Array, losses: Array, noise: Noise) -> list[Array]:
        """Perturb the output of each layer alone."""
        gradients: list[Array] = []
        for layer in range(len(self.thetas)):
            cotangent = self._estimated(outputs, labels, losses, noise, layer)
            gradients += self._back(outputs, cotangent, range(layer, layer + 1), linear=True)
        return gradients

    def _mixed(self, x: Array, labels: Array, noise: Noise, cuts: list[int]) -> Gradients:
        """One forward, in which copies with noise branch off behind the layers `cuts`; all segments back at once."""
        samples = len(x)
        cotangents = [self.device.arrays.zeros((samples, self.thetas[cut].shape[1]), x.dtype) for cut in cuts]
        for copies in noise.chunks():
            draws = {cut: Draw(noise, cut, samples, copies) for cut in cuts}
            outputs, rows = [x], x
            for layer, (theta, activation) in enumerate(zip(self.thetas, self.activations, strict=True)):
                rows = primitives.dense(self.device, rows, theta, activation)
                outputs.append(rows[:samples])
                if layer in draws:
                    branch = primitives.perturbed(self.device, rows[:samples], "linear", draws[layer])
                    rows = self.device.arrays.concatenate([rows, branch])
            every = primitives.cross_entropy(self.device, rows, labels)
            losses = every[:samples]
            finite(self.device, losses, samples, range(1))
            own = every[samples:].reshape(len(cuts), -1)
            for changed, cut, cotangent in zip(own, cuts, cotangents, strict=True):
                weight = weights(self.device, changed, losses, noise, copies)
                primitives.score_cotangent(self.device, weight, cotangent, draws[cut])
        ends = [*cuts, len(self.thetas) - 1]
        works: list[Callable[[], list[Array]]] = [
            partial(self._back, outputs, cotangent, range(first, end + 1))
            for first, end, cotangent in zip([0, *(cut + 1 for cut in cuts)], ends, cotangents, strict=False)
        ]
        works.append(lambda: self._back(outputs, self._last(rows[:samples], labels), range(cuts[-1] + 1, ends[-1] + 1)))
        found = side_by_side(self.device, works)
        return Gradients(losses, [each for segment in found for each in segment], samples)

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
