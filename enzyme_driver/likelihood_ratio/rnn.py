"""A recurrent network that classifies a sequence by its last state."""

from __future__ import annotations

from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.likelihood_ratio import primitives
from enzyme_driver.likelihood_ratio.estimate import Gradients, Method, checked, finite, weights
from enzyme_driver.likelihood_ratio.noise import Draw, Noise
from enzyme_driver.likelihood_ratio.primitives import Array
from enzyme_driver.tensor.devices import Device

HIDDEN_NOISE, INPUT_NOISE, READOUT_NOISE, CUT_NOISE = range(4)
"""Streams of noise; cuts have one each, from the last on."""


class RNN:
    """h' = tanh(h theta_h + x theta_x + biases), from zero; logits of the last state by a linear readout.

    `thetas` are theta_h (hidden + 1, hidden), theta_x (inputs + 1, hidden) and the readout's (hidden + 1, classes);
    each matrix's last row is its bias.
    """

    def __init__(
        self,
        inputs: int,
        hidden: int,
        classes: int,
        device: Device,
        *,
        seed: int = 0,
        dtype: type[np.floating[Any]] = np.float32,
    ) -> None:
        rng = np.random.default_rng(seed)
        self.device = device
        self.thetas = [
            device.from_host(np.vstack([rng.normal(0, np.sqrt(1 / a), (a, b)), np.zeros((1, b))]), np.dtype(dtype))
            for a, b in ((hidden, hidden), (inputs, hidden), (hidden, classes))
        ]

    def logits(self, x: Array) -> Array:
        """Shape (samples, classes), for `x` of the shape (steps, samples, inputs)."""
        return self._readout(self._states(x)[-1])

    def gradient(
        self, x: Array, labels: Array, method: Method = "BP", noise: Noise | None = None, segments: int = 4
    ) -> Gradients:
        """The derivative of the mean cross entropy: `x` (steps, samples, inputs), `labels` int32 (samples).

        "BP": compiled back-propagation through all steps. "LR-F": all steps and the readout are perturbed in one
        forward; the estimate of each matrix is one product over steps, copies and samples. "LR-L": the readout has its
        exact gradient, and the cell is perturbed. "LR-M": the sequence is cut into `segments`; the states between them
        are perturbed in one forward, and all segments have compiled back-propagation side by side, so that no chain is
        longer than a segment. Raises ArgumentError.
        """
        drawn = checked(method, noise)
        if drawn and method == "LR-M":
            return self._mixed(x, labels, drawn, segments)
        states = self._states(x)
        logits = self._readout(states[-1])
        losses = primitives.cross_entropy(self.device, logits, labels)
        finite(self.device, losses, len(labels), range(1))
        if drawn is None:
            found = self._back(x, states, logits, labels, None, 1)
        else:
            found = self._estimated(x, states, logits, labels, losses, drawn, method)
        return Gradients(losses, found, len(labels))

    def _states(self, x: Array) -> Array:
        start = self.device.arrays.zeros((x.shape[1], self.thetas[0].shape[1]), x.dtype)
        return primitives.recurrent(self.device, x, start, self.thetas[0], self.thetas[1])

    def _readout(self, h: Array, draw: Draw | None = None) -> Array:
        return primitives.dense(self.device, h, self.thetas[2], "linear", draw)

    def _back(
        self, x: Array, states: Array, logits: Array, labels: Array, cuts: Array | None, segments: int
    ) -> list[Array]:
        """Back-propagation of the readout and of all segments at once; `cuts` are the cotangents between them."""
        of_logits = primitives.cross_entropy_gradient(self.device, logits, labels)
        last = self.device.arrays.ascontiguousarray(states[-1])
        of_h, of_readout = primitives.dense_gradient(
            self.device, last, self.thetas[2], "linear", logits.copy(), of_logits, inputs=True
        )
        cotangents = of_h[None] if cuts is None else self.device.arrays.concatenate([cuts, of_h[None]])
        _, of_theta_h, of_theta_x = primitives.recurrent_gradient(
            self.device, x, states, self.thetas[0], self.thetas[1], cotangents, segments
        )
        return [of_theta_h, of_theta_x, of_readout]

    def _estimated(
        self, x: Array, states: Array, logits: Array, labels: Array, losses: Array, noise: Noise, method: Method
    ) -> list[Array]:
        gradients = [self.device.arrays.zeros_like(theta) for theta in self.thetas]
        steps, samples, _ = x.shape
        for copies in noise.chunks():
            of_h = Draw(noise, HIDDEN_NOISE, samples, copies, steps)
            of_x = Draw(noise, INPUT_NOISE, samples, copies, steps)
            start = self.device.arrays.zeros((of_h.step_rows, states.shape[2]), x.dtype)
            perturbed = primitives.recurrent(self.device, x, start, self.thetas[0], self.thetas[1], of_h)
            readout = Draw(noise, READOUT_NOISE, samples, copies) if method == "LR-F" else None
            last = self.device.arrays.ascontiguousarray(perturbed[-1])
            other = primitives.cross_entropy(self.device, self._readout(last, readout), labels)
            weight = weights(self.device, other, losses, noise, copies)
            every = self.device.arrays.tile(weight, steps)
            before = perturbed[:-1].reshape(-1, perturbed.shape[2])
            primitives.score(self.device, before, every, gradients[0], of_h)
            primitives.score(self.device, x.reshape(-1, x.shape[2]), every, gradients[1], of_x)
            if readout:
                primitives.score(self.device, last, weight, gradients[2], readout)
        if method == "LR-L":
            of_logits = primitives.cross_entropy_gradient(self.device, logits, labels)
            last = self.device.arrays.ascontiguousarray(states[-1])
            gradients[2] = primitives.dense_gradient(
                self.device, last, self.thetas[2], "linear", logits.copy(), of_logits, inputs=False
            )[1]
        return gradients

    def _mixed(self, x: Array, labels: Array, noise: Noise, segments: int) -> Gradients:
        """One forward of the samples and their copies, and all segments back side by side."""
        steps, samples, _ = x.shape
        if not 1 < segments <= steps or steps % segments:
            raise ArgumentError(f"{segments} segments do not divide {steps} steps", hint="give a divisor of the steps")
        zeros, hidden = self.device.arrays.zeros, self.thetas[0].shape[1]
        cuts = zeros((segments - 1, samples, hidden), x.dtype)
        for copies in noise.chunks():
            draws = [Draw(noise, CUT_NOISE + cut, samples, copies) for cut in range(segments - 1)]
            start = zeros((samples + draws[0].rows, hidden), x.dtype)
            of_h, of_x, length = *self.thetas[:2], steps // segments
            states = primitives.recurrent(self.device, x, start, of_h, of_x, draws[0], clean=samples, cut=length)
            logits = self._readout(states[-1])
            every = primitives.cross_entropy(self.device, logits, labels)
            losses = every[:samples]
            finite(self.device, losses, samples, range(1))
            weight = weights(self.device, every[samples:], losses, noise, copies)
            for draw, cotangent in zip(draws, cuts, strict=True):
                primitives.score_cotangent(self.device, weight, cotangent, draw)
        found = self._back(x, states[:, :samples], logits[:samples], labels, cuts, segments)
        return Gradients(losses, found, samples)
