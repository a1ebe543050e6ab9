"""Where arrays lie and who calls: devices that are not the current one, other streams, a thread a device.

Each gradient, by PyTorch's autograd and by the runtime on arrays of CuPy (NumPy on the host), is compared with that on
the first device.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from processes import Kind, alone, differs, program
from training import EXTENTS, dense

import enzyme_driver as adgen

ROWS, REPEATED = 96, 20
LARGEST = 1e-12
Gradient = Callable[[int], Any]
"""Of all inputs in one array of the host, found on the device of this number."""


def inputs() -> list[Any]:
    """The arguments of a layer, and the cotangent of what it returns."""
    rng, (count, outputs) = np.random.default_rng(5), EXTENTS[:2]
    shapes = ((ROWS, count), (count, outputs), (outputs,), (ROWS, outputs))
    return [rng.standard_normal(shape) for shape in shapes]


def of_torch(kind: Kind) -> Gradient:
    import torch

    def gradient(number: int) -> Any:
        device = torch.device(kind, number) if kind == "cuda" else torch.device("cpu")
        *given, cotangent = (torch.tensor(each, device=device) for each in inputs())
        given = [each.requires_grad_() for each in given]
        found = torch.autograd.grad(dense.torch(*given), given, cotangent)
        return np.concatenate([each.cpu().numpy().ravel() for each in found])

    return gradient


def of_arrays(kind: Kind) -> Gradient:
    place, file = alone(kind), program("distributed/dense.cu")
    made = adgen.compile(file, target=place.target) if file.suffix else adgen.load(file, place.target)
    layer = made["dense"]

    def gradient(number: int) -> Any:
        xp = __import__("cupy") if kind == "cuda" else np
        with xp.cuda.Device(number) if kind == "cuda" else contextlib.nullcontext():
            x, weights, biases, cotangent = (xp.asarray(each) for each in inputs())
            y = xp.zeros_like(cotangent)
        rows, outputs = y.shape
        launch = (adgen.cdiv(outputs, 16), adgen.cdiv(rows, 8)), (16, 8)
        arguments = (x, weights, biases, y, rows, x.shape[1], outputs)
        found = layer.vjp[launch](*arguments, cotangents={"y": cotangent}, wrt=("x", "weights", "biases"))
        parts = [found[name] for name in ("x", "weights", "biases")]
        return np.concatenate([np.asarray(each.get() if kind == "cuda" else each).ravel() for each in parts])

    return gradient


@contextlib.contextmanager
def another_stream(number: int) -> Any:
    """Of both libraries; the device is the current one meanwhile."""
    import cupy
    import torch

    of_torch = torch.cuda.stream(torch.cuda.Stream(number))  # which makes the device the current one, too
    with of_torch, cupy.cuda.Device(number), cupy.cuda.Stream(non_blocking=True):
        yield


def with_torch(kind: Kind, size: int) -> bool:
    failed = False
    for name, gradient in (("PyTorch", of_torch(kind)), ("arrays", of_arrays(kind))):
        wanted = gradient(0)
        with ThreadPoolExecutor(size) as threads:
            found = list(threads.map(gradient, list(range(size)) * REPEATED))
        failed |= differs(found, wanted, LARGEST, f"placement, {name}, {size} threads, a device each")
        if kind == "cpu":
            continue
        for number in range(size):
            what = f"placement, {name}, device {number}"
            failed |= differs(gradient(number), wanted, LARGEST, f"{what} while device 0 is the current one")
            with another_stream(number):
                failed |= differs(gradient(number), wanted, LARGEST, f"{what}, a stream that is not the default one")
    return failed
