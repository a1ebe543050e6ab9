"""What all models share: methods, results, and the weight of a copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from enzyme_driver.errors import ArgumentError
from enzyme_driver.likelihood_ratio.noise import Noise
from enzyme_driver.likelihood_ratio.primitives import Array
from enzyme_driver.tensor.devices import Device

Method = Literal["BP", "LR-F", "LR-L", "LR-M"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class Gradients:
    """The mean loss without noise, and its derivative by each of the model's thetas."""

    loss: float
    thetas: list[Array]


def checked(method: Method, noise: Noise | None) -> Noise | None:
    """The noise; None for back-propagation. Raises ArgumentError."""
    if method not in METHODS:
        raise ArgumentError(f"{method!r} is no method", hint=f"one of {', '.join(METHODS)}")
    if method == "BP":
        return None
    if noise is None:
        raise ArgumentError(f"{method} needs noise", hint="give noise=Noise(sigma=0.1)")
    return noise


def weights(device: Device, perturbed: Array, losses: Array, noise: Noise, copies: range) -> Array:
    """The factor of each row's noise: its loss less the one without noise, over sigma and the number of all rows.

    The loss without noise is a baseline: no noise enters it, so the estimate stays unbiased. Raises ArgumentError where
    a loss is not finite.
    """
    finite(device, perturbed, len(losses), copies)
    above = perturbed.reshape(len(copies), len(losses)) - losses
    return (above / (noise.sigma * noise.copies * len(losses))).ravel()


def finite(device: Device, losses: Array, samples: int, copies: range) -> None:
    """Raises ArgumentError with sample and copy where one is not."""
    which = device.arrays.isfinite(losses)
    if not bool(which.all()):
        row = int(device.to_host(which).argmin())
        raise ArgumentError(
            f"the loss of sample {row % samples} is not finite in copy {copies.start + row // samples}",
            hint="lower sigma or the learning rate; no update was made",
        )
