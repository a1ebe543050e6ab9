"""Tensors with two axes whose operators are CUDA kernels, and whose gradients the compiler makes from those.

    from enzyme_driver import tensor as ad

    device = ad.Device("openmp")  # "cpu" is one thread of the host, "cuda" the GPU
    w = ad.tensor(weights, device, requires_grad=True)
    loss = ad.sum((ad.tensor(x, device) @ w - ad.tensor(y, device)) ** 2.0)
    loss.backward()
    w.grad

Tensors have the dtype float32 or float64 and the shape (rows, columns). Of two operands, the one with a single row or
column has it repeated (broadcasting). The arrays behind are NumPy's on the host and CuPy's on the GPU. Matrix products
of a device with a precision, such as ad.Device("cuda", "bfloat16"), run on Tensor Cores.
"""

from __future__ import annotations

from enzyme_driver.tensor.array import Tensor, no_grad, tensor
from enzyme_driver.tensor.devices import PRECISIONS, Device
from enzyme_driver.tensor.functions import (
    add,
    broadcast,
    copy,
    divide,
    exp,
    log,
    log_softmax,
    matmul,
    max,  # noqa: A004  (NumPy's names)
    multiply,
    negate,
    negative_log_likelihood,
    power,
    relu,
    subtract,
    sum,  # noqa: A004
    transpose,
)
from enzyme_driver.tensor.kernels import build, use_built
from enzyme_driver.tensor.replay import replayed

__all__ = [
    "PRECISIONS",
    "Device",
    "Tensor",
    "add",
    "broadcast",
    "build",
    "copy",
    "divide",
    "exp",
    "log",
    "log_softmax",
    "matmul",
    "max",
    "multiply",
    "negate",
    "negative_log_likelihood",
    "no_grad",
    "power",
    "relu",
    "replayed",
    "subtract",
    "sum",
    "tensor",
    "transpose",
    "use_built",
]
