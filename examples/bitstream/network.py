"""The recurrent network of rnn.cu, its gradient by the scan, and the streams that it learns to tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import enzyme_driver as adgen
from enzyme_driver import scan

SOURCE = Path(__file__).with_name("rnn.cu")
HIDDEN, CLASSES, WARP = 20, 10, 32
STEP = {"state": "state", "following": "next_state"}
NAMES = ("hidden_weight", "input_weight", "bias")


@dataclass(frozen=True)
class Kernels:
    """What the network launches: the step and its gradients, all steps at once, and the loss."""

    step: scan.Recurrence
    sequence: Any
    classify: Any


def variants(target: str) -> dict[str, dict[str, Any]]:
    """What is compiled of rnn.cu, as options of `adgen.compile`, by name."""
    by_state, by_parameters = scan.activities(SOURCE, "rnn_step", **STEP, target=target)
    constant = dict.fromkeys(("states", "bits", *NAMES), "const")
    return {
        "by_state": {"kernel": "rnn_step", "activity": by_state, "modes": ["batched"]},
        "by_parameters": {"kernel": "rnn_step", "activity": by_parameters, "modes": ["batched"]},
        "sequence": {"kernel": "rnn_sequence", "activity": constant},
        "classify": {"kernel": "classify", "activity": {"loss": "discarded"}},
    }


def kernels(target: str, built: Path | None = None) -> Kernels:
    """Compiled, or loaded from a folder with an artifact of each variant."""
    if built:
        names = ("by_state", "by_parameters", "sequence", "classify")
        made = {name: next(iter(adgen.load(built / name, target))) for name in names}
    else:
        made = {name: adgen.compile(SOURCE, target=target, **options) for name, options in variants(target).items()}
    step = scan.Recurrence(made["by_state"], made["by_parameters"], **STEP, per_step=("bits",), samples="samples")
    return Kernels(step, made["sequence"], made["classify"])


def streams(rng: np.random.Generator, length: int, samples: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Bits [length, samples], each one with probability 0.05 + 0.1 class, and the classes."""
    labels = rng.integers(0, CLASSES, samples).astype(np.int32)
    return (rng.random((length, samples)) < 0.05 + 0.1 * labels).astype(np.float32), labels


def weights(rng: np.random.Generator) -> dict[str, np.ndarray[Any, Any]]:
    """Uniform within 1 / sqrt(HIDDEN), as PyTorch begins."""
    shapes = {"hidden_weight": (HIDDEN, HIDDEN), "input_weight": (HIDDEN,), "bias": (HIDDEN,)}
    shapes |= {"out_weight": (CLASSES, HIDDEN), "out_bias": (CLASSES,)}
    bound = HIDDEN**-0.5
    return {name: rng.uniform(-bound, bound, shape).astype(np.float32) for name, shape in shapes.items()}


class Network:
    """Buffers for streams of one length and number; on the GPU all of it can be captured into a graph."""

    def __init__(
        self, made: Kernels, begin: dict[str, Any], length: int, samples: int, *, method: str = "auto"
    ) -> None:
        self.kernels, self.method = made, method
        on_gpu = made.sequence.target == "cuda"
        self.library: Any = __import__("cupy") if on_gpu else np
        xp = self.library
        self.samples = samples
        self.weights = {name: xp.array(value) for name, value in begin.items()}
        self.bits = xp.zeros((length, samples), np.float32)
        self.labels = xp.zeros(samples, np.int32)
        self.states = xp.zeros((length + 1, samples, HIDDEN), np.float32)
        self.losses, self.seed = xp.zeros(samples, np.float32), xp.full(samples, 1 / samples, np.float32)

    def forward(self) -> None:
        """States and losses of the streams in `bits`, with the classes in `labels`."""
        length, samples = self.bits.shape
        inner = {name: self.weights[name] for name in NAMES}
        if self.library is np:
            self.kernels.step.run(_launch, self.states, bits=self.bits, samples=samples, **inner)
        else:
            self.kernels.sequence[samples, WARP](self.states, self.bits, *inner.values(), length, samples)
        self.kernels.classify[_launch(samples)](*self._head())

    def backward(self) -> dict[str, Any]:
        """The gradient of the mean loss by all weights."""
        return self.before(self.last_cotangents())

    def last_cotangents(self) -> dict[str, Any]:
        """Those of the last states and of the last layer."""
        names = {"weight": "out_weight", "bias": "out_bias"}
        xp = self.library
        last = xp.zeros((self.samples, HIDDEN), np.float32)
        out = {name: xp.zeros_like(self.weights[own]) for name, own in names.items()}
        shadows = {"state": last, **out, "loss": self.seed.copy()}
        self.kernels.classify.gradient[_launch(self.samples)](*self._head(), shadows=shadows)
        return {"state": last, **{own: out[name] for name, own in names.items()}}

    def before(self, last: dict[str, Any]) -> dict[str, Any]:
        """Back through all steps."""
        inner = {name: self.weights[name] for name in NAMES}
        found = self.kernels.step.vjp(
            _launch,
            self.states,
            last.pop("state"),
            wrt=NAMES,
            method=self.method,
            bits=self.bits,
            samples=self.samples,
            **inner,
        )
        return {**last, **{name: found[name] for name in NAMES}}

    def descend(self, rate: float, *, largest_norm: float | None = None) -> None:
        """One step of gradient descent; a gradient of a larger norm than that is made shorter."""
        self.forward()
        found, xp = self.backward(), self.library
        if largest_norm is not None:
            norm = xp.sqrt(sum(xp.vdot(each, each) for each in found.values()))
            rate = rate / xp.maximum(norm / largest_norm, 1)
        for name, cotangent in found.items():
            self.weights[name] -= (rate * cotangent).astype(np.float32)

    def _head(self) -> tuple[Any, ...]:
        return (
            self.states[-1],
            self.weights["out_weight"],
            self.weights["out_bias"],
            self.labels,
            self.losses,
            self.samples,
        )


def _launch(samples: int) -> tuple[int, int]:
    block = 64
    return -(-samples // block), block
