"""Data-parallel training: a network whose layers are a CUDA kernel, under PyTorch's DistributedDataParallel, and with
its DTensor.

Each process has a part of the samples; the weights after some steps are compared with those that one process reaches
on all samples. With DTensor the rule is the operator's own: `split` says that rows of x may lie on several devices.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from processes import Found, Kind, Place, alone, differs, over, program, run

import enzyme_driver as adgen

EXTENTS = (8, 32, 16, 4)
SAMPLES, STEPS, RATE = 256, 30, 0.5
LARGEST = 1e-9
FALLEN = 0.5
"""The loss at the end is less than this part of that at the beginning."""


@adgen.operator(program("distributed/dense.cu"), kernel="dense", name="distributed_dense", split={"x": 0, "return": 0})
def dense(launch: Any, x: Any, weights: Any, biases: Any) -> Any:
    rows, (inputs, outputs) = x.shape[0], weights.shape
    y = launch.empty((rows, outputs), x.dtype)
    grid = (adgen.cdiv(outputs, 16), adgen.cdiv(rows, 8))
    return launch(grid=grid, block=(16, 8), args=(x, weights, biases, y, rows, inputs, outputs), outputs=y)


def network(device: Any) -> Any:
    import torch

    rng = np.random.default_rng(3)

    class Network(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            drawn = [(rng.normal(0, a**-0.5, (a, b)), np.zeros(b)) for a, b in pairwise(EXTENTS)]
            self.layers = torch.nn.ParameterList(torch.tensor(part) for layer in drawn for part in layer)

        def forward(self, x: Any) -> Any:
            for weights, biases in zip(self.layers[::2], self.layers[1::2], strict=True):
                x = dense.torch(x, weights, biases)
            return x

    return Network().to(device)


def samples() -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((SAMPLES, EXTENTS[0]))
    return x, np.tanh(np.sin(x) @ rng.standard_normal((EXTENTS[0], EXTENTS[-1])))


def trained(place: Place) -> Found:
    """Weights at the end, and the losses of this process's samples."""
    import torch

    x, wanted = (torch.tensor(part[place.part(SAMPLES)], device=place.device) for part in samples())
    model = network(place.device)
    if place.size > 1:
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer, losses = torch.optim.SGD(model.parameters(), RATE), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = ((model(x) - wanted) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    weights = np.concatenate([each.detach().cpu().numpy().ravel() for each in model.parameters()])
    return {"weights": weights, "losses": np.array(losses)}


def gradients_of_dtensors(place: Place) -> Found:
    """Of the first loss by all weights: rows of the samples are split, weights are on each device."""
    import torch
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    x, wanted = (torch.tensor(array, device=place.device) for array in samples())
    model = network(place.device)
    if place.size > 1:
        mesh = init_device_mesh(place.kind, (place.size,))
        x, wanted = (distribute_tensor(each, mesh, [Shard(0)]) for each in (x, wanted))
        model.layers = torch.nn.ParameterList(distribute_tensor(each, mesh, [Replicate()]) for each in model.layers)
    ((model(x) - wanted) ** 2).mean().backward()
    found = [each.grad.full_tensor() if place.size > 1 else each.grad for each in model.parameters()]
    return {"gradients": np.concatenate([each.cpu().numpy().ravel() for each in found])}


def with_torch(kind: Kind, size: int) -> bool:
    wanted = trained(alone(kind))
    found = run(trained, size, kind)
    failed = differs(found[-1]["weights"], wanted["weights"], LARGEST, f"training, DDP, {over(size, kind)}")
    whole, parts = gradients_of_dtensors(alone(kind)), run(gradients_of_dtensors, size, kind)
    what = f"training, DTensor, {over(size, kind)}"
    failed |= differs([each["gradients"] for each in parts], whole["gradients"], LARGEST, what)
    losses = np.mean([each["losses"] for each in found], axis=0)
    print(f"training, DDP: the loss falls from {losses[0]:.3f} to {losses[-1]:.3f}")
    return failed or not losses[-1] < FALLEN * losses[0]
