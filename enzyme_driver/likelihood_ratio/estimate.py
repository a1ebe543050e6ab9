"""What all models share: methods, results, and the weight of a copy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from enzyme_driver.errors import ArgumentError
from enzyme_driver.likelihood_ratio.noise import Noise
from enzyme_driver.likelihood_ratio.primitives import Array
from enzyme_driver.tensor.devices import Device

Method = Literal["BP", "LR-F", "LR-L", "LR-M"]
METHODS: tuple[Method, ...] = get_args(Method)


_deferred: ContextVar[Array | None] = ContextVar("deferred", default=None)


@dataclass(frozen=True)
class Gradients:
    """The losses without noise, and the derivative of their mean by each of the model's thetas."""

    losses: Array
    thetas: list[Array]
    count: int
    """Of how many losses the mean is taken."""

    @property
    def loss(self) -> float:
        """The mean; waits for the device."""
        return float(self.losses.sum()) / self.count


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
    """Raises ArgumentError with sample and copy where one is not; inside `deferred` it is written down instead."""
    found = _deferred.get()
    if found is not None:
        _note()(losses, copies.start * samples, samples, found, size=losses.size)
        return
    which = device.arrays.isfinite(losses)
    if not bool(which.all()):
        refuse(copies.start * samples + int(device.to_host(which).argmin()), samples)


def refuse(row: int, samples: int) -> None:
    """Raises ArgumentError: the loss of this row, one of all copies, is not finite."""
    raise ArgumentError(
        f"the loss of sample {row % samples} is not finite in copy {row // samples}",
        hint="lower sigma or the learning rate; no update was made",
    )


@contextmanager
def deferred(found: Array) -> Iterator[None]:
    """Inside, nothing is raised: `found`, two int64 on a GPU, takes the last row whose loss is not finite, and how many
    rows a copy has.
    """
    token = _deferred.set(found)
    try:
        yield
    finally:
        _deferred.reset(token)


@cache
def _note() -> Any:  # noqa: ANN401
    import cupy  # type: ignore[import-not-found, unused-ignore]

    code = """
    if (!isfinite(loss[i])) {
        atomicMax(reinterpret_cast<long long *>(&found[0]), (long long)(first + i));
        found[1] = samples;
    }"""
    return cupy.ElementwiseKernel("raw T loss, int64 first, int64 samples", "raw int64 found", code, "note_not_finite")


def side_by_side(device: Device, works: Sequence[Callable[[], list[Array]]]) -> list[list[Array]]:
    """What each of them gives; on a GPU each has a stream, between what was launched before and what comes after."""
    if device.name != "cuda" or len(works) == 1:
        return [work() for work in works]
    cuda = device.arrays.cuda
    here = cuda.get_current_stream()
    before, results = here.record(), []
    for stream, work in zip(_streams(cuda, len(works)), works, strict=True):
        stream.wait_event(before)
        with stream:
            results.append(work())
        here.wait_event(stream.record())
    return results


@cache
def _streams(cuda: Any, count: int) -> list[Any]:  # noqa: ANN401
    return [cuda.Stream(non_blocking=True) for _ in range(count)]
