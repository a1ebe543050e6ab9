"""The kernels of networks as functions of arrays: with noise, with compiled gradients, and with likelihood ratios.

Arrays are NumPy's on the host and CuPy's on a GPU, float32 or float64, row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from enzyme_driver.likelihood_ratio.kernels import C_TYPES, STORE
from enzyme_driver.likelihood_ratio.noise import Draw
from enzyme_driver.tensor.devices import Device
from enzyme_driver.tensor.rules import rounds

Array = Any


class Csr(NamedTuple):
    """A sparse matrix by rows: where each begins (int32), the columns (int32) and the values of its entries."""

    begin: Array
    neighbour: Array
    value: Array


Activation = Literal["linear", "relu", "tanh"]
ACTIVATIONS: tuple[Activation, ...] = ("linear", "relu", "tanh")

EDGE, BLOCK = 64, (16, 16)
"""Of dense.cu: what a block computes, and its threads."""
QUAD, LINE, DEPTH = 4, 64, 16
FEWEST_BLOCKS = 256
"""Products over rows are divided until there are about so many blocks."""
ROUNDED, TENSOR_BLOCK = {"tf32": "float", "bfloat16": "__nv_bfloat16", "float16": "half"}, 128
"""Of noise_tensor.cu: what factors are rounded to by a device's precision, and the threads of a block."""


def dense(device: Device, x: Array, theta: Array, activation: Activation, draw: Draw | None = None) -> Array:
    """activation(x theta + bias + noise), shape (rows, outputs); the last row of `theta` is the bias.

    `x` has the shape (samples, inputs), shared by all copies, or (rows, inputs). Without `draw` there is no noise.
    """
    rows = draw.rows if draw else len(x)
    out = device.arrays.empty((rows, theta.shape[1]), x.dtype)
    block: int | tuple[int, int] = TENSOR_BLOCK if rounds(device, x.dtype) else BLOCK
    _dense(device, x, theta, activation, out, draw, lambda kernel, grid, arguments: kernel[grid, block](*arguments))
    return out


def dense_gradient(
    device: Device, x: Array, theta: Array, activation: Activation, out: Array, cotangent: Array, *, inputs: bool
) -> tuple[Array, Array]:
    """The compiled gradient of `dense` without noise: the cotangents of `x` (None unless `inputs`) and of `theta`.

    `cotangent` is consumed.
    """
    arrays = device.arrays
    of_theta = arrays.zeros_like(theta)
    of_x = arrays.zeros_like(x) if inputs else None
    shadows = {"theta": of_theta, "out": cotangent} | ({"x": of_x} if inputs else {})

    def launch(kernel: Any, grid: tuple[int, int], arguments: tuple[Any, ...]) -> None:  # noqa: ANN401
        kernel.gradient[grid, BLOCK](*arguments, shadows=shadows)

    _dense(Device(device.name), x, theta, activation, out, None, launch, () if inputs else ("x",))
    return of_x, of_theta


def _dense(
    device: Device,
    x: Array,
    theta: Array,
    activation: Activation,
    out: Array,
    draw: Draw | None,
    launch: Callable[[Any, tuple[int, int], tuple[Any, ...]], None],
    constant: tuple[str, ...] = (),
) -> None:
    rows, outputs = out.shape
    if rounds(device, x.dtype):  # of tensor_tile.cuh's activations the first is a product alone
        file = "noise_tensor.cu"
        instance = f"dense_noise_tensor<{ROUNDED[device.precision]}, {1 + ACTIVATIONS.index(activation)}>"
    else:
        file, instance = "dense.cu", f"dense<{C_TYPES[x.dtype.name]}, {ACTIVATIONS.index(activation)}>"
    seed = _seed(device, draw)
    words = (draw.noise.sigma, seed, *draw.words) if draw else (0.0, seed, 0, 0, 1, 0, 1, 1)
    arguments = (x, theta, out, rows, len(x), x.shape[1], outputs, *words)
    with device.running():
        launch(
            STORE.kernel(device.target, file, instance, constant),
            (_up(outputs, EDGE), _up(rows, EDGE)),
            arguments,
        )


def perturbed(device: Device, z: Array, activation: Activation, draw: Draw) -> Array:
    """activation(z + noise) for every copy; `z` has the shape (samples, outputs)."""
    out = device.arrays.empty((draw.rows, z.shape[1]), z.dtype)
    instance = f"perturb<{C_TYPES[z.dtype.name]}, {ACTIVATIONS.index(activation)}>"
    grid = (draw.rows, _up(z.shape[1], QUAD * LINE))  # rows may be more than a grid's second extent
    with device.running():
        kernel = STORE.kernel(device.target, "dense.cu", instance)
        kernel[grid, LINE](z, out, draw.rows, z.shape[1], draw.noise.sigma, _seed(device, draw), *draw.words)
    return out


def score(device: Device, x: Array, weight: Array, gradient: Array, draw: Draw) -> None:
    """Add the likelihood-ratio estimate to `gradient`, of the shape of theta: sum of weight[row] noise[row] x[row].

    `x` has the shape (rows, inputs), or (samples, inputs) where copies share it; of a sequence, so many for each step,
    one step after the other. `weight` has a number for each row: loss over sigma, over how many rows there are.
    """
    inputs, outputs = gradient.shape[0] - 1, gradient.shape[1]
    across, down = _up(outputs, EDGE), _up(inputs + 1, EDGE)
    shares = min(_up(draw.rows, 4 * DEPTH), max(1, FEWEST_BLOCKS // (across * down)))
    file, instance, block = "dense.cu", f"score<{C_TYPES[x.dtype.name]}>", BLOCK
    if rounds(device, x.dtype):  # weights may be too small for float16
        rounded = ROUNDED["tf32" if device.precision == "tf32" else "bfloat16"]
        file, instance, block = "noise_tensor.cu", f"score_tensor<{rounded}>", (TENSOR_BLOCK, 1)
    with device.running():
        kernel = STORE.kernel(device.target, file, instance)
        kernel[(across, down, shares), block](
            x, weight, gradient, draw.rows, len(x) // draw.steps, inputs, outputs, _seed(device, draw), *draw.words
        )


def score_cotangent(device: Device, weight: Array, cotangent: Array, draw: Draw) -> None:
    """Add the likelihood-ratio estimate of the cotangent of what was perturbed, (samples, outputs), to `cotangent`."""
    samples, outputs = cotangent.shape
    with device.running():
        kernel = STORE.kernel(device.target, "dense.cu", f"score_cotangent<{C_TYPES[cotangent.dtype.name]}>")
        grid, seed = (_up(outputs, QUAD * LINE), samples), _seed(device, draw)
        kernel[grid, LINE](weight, cotangent, draw.rows, outputs, seed, *draw.words)


def cross_entropy(device: Device, logits: Array, labels: Array) -> Array:
    """-log softmax(logits)[label], a number for each row; row r has the label r modulo their number."""
    rows, classes = logits.shape
    loss = device.arrays.empty(rows, logits.dtype)
    with device.running():
        kernel = STORE.kernel(device.target, "loss.cu", f"cross_entropy<{C_TYPES[logits.dtype.name]}>")
        kernel[_up(rows, LINE), LINE](logits, labels, loss, rows, classes, len(labels))
    return loss


def cross_entropy_gradient(device: Device, logits: Array, labels: Array) -> Array:
    """The compiled gradient of the mean of `cross_entropy` by the logits."""
    rows, classes = logits.shape
    arrays = device.arrays
    cotangent = arrays.full(rows, 1 / rows, logits.dtype)
    of_logits = arrays.zeros_like(logits)
    with device.running():
        kernel = STORE.kernel(device.target, "loss.cu", f"cross_entropy<{C_TYPES[logits.dtype.name]}>")
        kernel.gradient[_up(rows, LINE), LINE](
            logits,
            labels,
            arrays.empty(rows, logits.dtype),
            rows,
            classes,
            len(labels),
            shadows={"logits": of_logits, "loss": cotangent},
        )
    return of_logits


def recurrent(
    device: Device,
    x: Array,
    start: Array,
    theta_h: Array,
    theta_x: Array,
    draw: Draw | None = None,
    *,
    clean: int = 0,
    cut: int = 0,
) -> Array:
    """All states of h' = tanh(h theta_h + x theta_x + biases + noises), shape (steps + 1, rows, hidden).

    `x` has the shape (steps, samples, inputs), `start` (rows, hidden); rows are copies of the samples, of which the
    first `clean` have no noise. With `cut` the others have it in the states after every `cut` steps, from streams of
    their own, but in the last one.
    """
    states = device.arrays.empty((len(x) + 1, *start.shape), x.dtype)
    states[0] = start
    seed = _seed(device, draw)
    words = (draw.noise.sigma, seed, draw.first_row, draw.noise.kind) if draw else (0.0, seed, 0, 0)
    last = (draw.all_step_rows if draw else len(start), clean, cut)
    arguments = (x, theta_h, theta_x, states, len(start), x.shape[1], len(x), x.shape[2], start.shape[1], 0, *words)
    with device.running():
        _recurrent(device, states)(*arguments, *last)
    return states


def recurrent_gradient(
    device: Device, x: Array, states: Array, theta_h: Array, theta_x: Array, cotangents: Array, segments: int
) -> tuple[Array, Array, Array]:
    """The compiled gradient by start, theta_h and theta_x; the sequence is `segments` of them, reversed side by side.

    `states` are all states of the sequence, (steps + 1, samples, hidden); `cotangents`, of the shape (segments,
    samples, hidden), belong to the last state of each segment. The cotangents of the segments' first states come back
    as (segments, samples, hidden).
    """
    arrays = device.arrays
    steps, samples, inputs = x.shape
    hidden, length = states.shape[2], steps // segments
    rows = segments * samples
    own = arrays.empty((length + 1, rows, hidden), x.dtype)
    own[0] = states[0:steps:length].reshape(rows, hidden)
    shadow = arrays.zeros_like(own)
    shadow[-1] = cotangents.reshape(rows, hidden)
    of_h, of_x = arrays.zeros_like(theta_h), arrays.zeros_like(theta_x)
    none = (0.0, _seed(device, None), 0, 0, 1, 0, 0)
    arguments = (x, theta_h, theta_x, own, rows, samples, length, inputs, hidden, 1, *none)
    shadows = {"theta_h": of_h, "theta_x": of_x, "states": shadow}
    with device.running():
        _recurrent(device, own, gradient=True)(*arguments, shadows=shadows)
    return shadow[0].reshape(segments, samples, hidden), of_h, of_x


def _recurrent(device: Device, states: Array, *, gradient: bool = False) -> Any:  # noqa: ANN401
    """The kernel, or its gradient, with its launch."""
    hidden, rows = states.shape[2], states.shape[1]
    across = max(1, LINE // hidden)
    kernel = STORE.kernel(device.target, "recurrent.cu", f"recurrent<{C_TYPES[states.dtype.name]}>", ("x",))
    shared = across * hidden * states.dtype.itemsize
    which = kernel.gradient if gradient else kernel
    return which[_up(rows, across), (hidden, across), None, shared]


def propagate(device: Device, graph: Csr, x: Array) -> Array:
    """The sparse matrix times every copy: `x` (copies * nodes, columns)."""
    out = device.arrays.empty_like(x)
    _propagate(device, graph, x, out)
    return out


def propagate_gradient(device: Device, graph: Csr, cotangent: Array) -> Array:
    """The compiled gradient of `propagate` by `x`; `cotangent` is consumed."""
    arrays = device.arrays
    of_x = arrays.zeros_like(cotangent)
    _propagate(device, graph, arrays.empty_like(cotangent), arrays.empty_like(cotangent), (of_x, cotangent))
    return of_x


def _propagate(device: Device, graph: Csr, x: Array, out: Array, shadows: tuple[Array, Array] | None = None) -> None:
    rows, columns = x.shape
    kernel = STORE.kernel(device.target, "graph.cu", f"propagate<{C_TYPES[x.dtype.name]}>", ("value",))
    launch = ((_up(columns, 32), _up(rows, 8)), (32, 8))
    arguments = (*graph, x, out, rows, len(graph.begin) - 1, columns)
    with device.running():
        if shadows is None:
            kernel[launch](*arguments)
        else:
            kernel.gradient[launch](*arguments, shadows={"x": shadows[0], "out": shadows[1]})


def _seed(device: Device, draw: Draw | None) -> Array:
    """An array of one number; zero where nothing is drawn."""
    if draw is None:
        return _no_seed(device)
    return _array_of(device, draw.noise.seed) if draw.noise.counter is None else draw.noise.counter


@lru_cache(maxsize=8)
def _array_of(device: Device, seed: int) -> Array:
    return device.from_host([seed], np.uint32)


@cache
def _no_seed(device: Device) -> Array:
    return device.from_host([0], np.uint32)


def _up(count: int, size: int) -> int:
    return -(-count // size)
