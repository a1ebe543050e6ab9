"""The heat equation in a plate and in a block: each device has a part of the rows (of the planes), and neighbours
exchange those at their edges.

The kernels are those of heat2d/heat2d.cu and heat3d.cu, as operators of PyTorch and of JAX; the exchange is PyTorch's
send and receive and JAX's ppermute. The gradient of a misfit by the state at the beginning is compared with that on a
single device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from processes import Found, Kind, Place, differs, over, program, run

import enzyme_driver as adgen

SHAPES = {"plate": (64, 64), "block": (32, 12, 20)}
STEPS = 12
RATIO, BETA = 0.1, 0.5
LARGEST = 1e-12


@adgen.operator(program("heat2d/heat2d.cu"), kernel="step")
def plate_step(launch: Any, u: Any) -> Any:
    rows, cols = u.shape
    after = launch.empty_like(u)
    grid = (adgen.cdiv(cols, 16), adgen.cdiv(rows, 16))
    return launch(grid=grid, block=(16, 16), args=(u, after, cols, rows, RATIO, BETA), outputs=after)


@adgen.operator(program("distributed/heat3d.cu"), kernel="step")
def block_step(launch: Any, u: Any) -> Any:
    planes, rows, cols = u.shape
    after = launch.empty_like(u)
    grid = (adgen.cdiv(cols, 32), adgen.cdiv(rows, 4), adgen.cdiv(planes, 2))
    return launch(grid=grid, block=(32, 4, 2), args=(u, after, cols, rows, planes, RATIO, BETA), outputs=after)


def heat_step(u: Any) -> Any:
    """One step of a plate or a block, in any library."""
    return {2: plate_step, 3: block_step}[u.ndim](u)


def states(shape: tuple[int, ...]) -> tuple[Any, Any]:
    """That at the beginning, and what the last one is compared with."""
    rng = np.random.default_rng(0)
    return rng.random(shape), rng.random(shape)


# PyTorch


def gradient(start: Any, target: Any, step: Callable[[Any], Any]) -> Any:
    """By the own rows of the state; `step` advances them."""
    first = state = start.clone().requires_grad_()
    for _ in range(STEPS):
        state = step(state)
    ((state - target) ** 2).sum().mul(0.5).backward()
    return first.grad


def exchanged(up: Any, down: Any, place: Place) -> tuple[Any, Any]:
    """Send a row (a plane) to each neighbour; what they send: from above, from below (zeros where there is none)."""
    import torch
    from torch import distributed

    above, below = torch.zeros_like(up), torch.zeros_like(down)
    moves = []
    for there, row, room in ((place.rank - 1, up, above), (place.rank + 1, down, below)):
        if 0 <= there < place.size:
            moves += [distributed.P2POp(distributed.isend, row.contiguous(), there)]
            moves += [distributed.P2POp(distributed.irecv, room, there)]
    for request in distributed.batch_isend_irecv(moves) if moves else ():
        request.wait()
    return above, below


def step_with_neighbours(place: Place) -> Callable[[Any], Any]:
    """Put the neighbours' rows around the own ones (differentiable), advance, and take them off again."""
    import torch

    top, bottom = place.rank > 0, place.rank < place.size - 1

    class Widen(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(_: Any, own: Any) -> Any:
            above, below = exchanged(own[:1], own[-1:], place)
            return torch.cat([*([above] if top else []), own, *([below] if bottom else [])])

        @staticmethod
        def backward(_: Any, cotangent: Any) -> Any:
            none = torch.zeros_like(cotangent[:1])
            above, below = exchanged(cotangent[:1] if top else none, cotangent[-1:] if bottom else none, place)
            own = inner(cotangent).clone()
            own[:1] += above
            own[-1:] += below
            return own

    def inner(wide: Any) -> Any:
        return wide[int(top) : wide.shape[0] - int(bottom)]

    return lambda own: inner(heat_step(Widen.apply(own)))


def of_process(place: Place, shape: tuple[int, ...]) -> Found:
    import torch

    part = place.part(shape[0])
    start, target = (torch.tensor(array[part], device=place.device) for array in states(shape))
    return {"gradient": gradient(start, target, step_with_neighbours(place)).cpu().numpy()}


def timed(place: Place, times: int, size: int) -> Callable[[], object]:
    """A gradient in this process's part of a block of `times * size` planes, each `size` by `size`."""
    import torch

    shape = (times * size // place.size, size, size)
    start, target = (torch.rand(shape, device=place.device, dtype=torch.float64) for _ in range(2))
    step = step_with_neighbours(place)
    return lambda: gradient(start, target, step)


def of_one_process(start: Any, target: Any, devices: list[Any]) -> Any:
    """All devices by one process: copies between them are PyTorch's, and differentiable."""
    import torch

    parts = [rows.to(device) for rows, device in zip(start.chunk(len(devices)), devices, strict=True)]
    first = [part.clone().requires_grad_() for part in parts]
    state = list(first)
    for _ in range(STEPS):
        wide = []
        for i, own in enumerate(state):
            above = [state[i - 1][-1:].to(own.device)] if i > 0 else []
            below = [state[i + 1][:1].to(own.device)] if i < len(state) - 1 else []
            wide.append((torch.cat([*above, own, *below]), len(above), len(below)))
        state = [heat_step(own)[top : own.shape[0] - bottom] for own, top, bottom in wide]
    pairs = zip(state, target.chunk(len(devices)), strict=True)
    torch.stack(
        [((own - goal.to(own.device)) ** 2).sum().mul(0.5).to(devices[0]) for own, goal in pairs]
    ).sum().backward()
    return torch.cat([part.grad.cpu() for part in first])


def with_torch(kind: Kind, size: int) -> bool:
    failed = [_differs(kind, size, name) for name in SHAPES]
    return any(failed)


def _differs(kind: Kind, size: int, name: str) -> bool:
    import torch

    start, target = (torch.tensor(array, device=kind) for array in states(SHAPES[name]))
    alone = gradient(start, target, heat_step).cpu().numpy()
    devices = [torch.device("cuda", i) if kind == "cuda" else torch.device("cpu") for i in range(size)]
    found = of_one_process(start, target, devices).numpy()
    failed = differs(found, alone, LARGEST, f"heat in a {name}, PyTorch, one process with {size} devices")
    found = np.concatenate([each["gradient"] for each in run(of_process, size, kind, SHAPES[name])])
    return failed | differs(found, alone, LARGEST, f"heat in a {name}, PyTorch, {over(size, kind)}")


# JAX


def with_jax() -> bool:
    import jax

    jax.config.update("jax_enable_x64", True)
    failed = [_differs_in_jax(name) for name in SHAPES]
    return any(failed)


def _differs_in_jax(name: str) -> bool:
    import jax
    from jax.sharding import AxisType, PartitionSpec

    size = len(jax.devices())
    start, target = states(SHAPES[name])
    mesh = jax.make_mesh((size,), ("rows",), axis_types=(AxisType.Auto,))

    def step(own: Any) -> Any:
        place = jax.lax.axis_index("rows")
        below = jax.lax.ppermute(own[:1], "rows", [(i + 1, i) for i in range(size - 1)])
        above = jax.lax.ppermute(own[-1:], "rows", [(i, i + 1) for i in range(size - 1)])
        after = heat_step(jax.numpy.concatenate([above, own, below]))[1:-1]
        row = jax.numpy.arange(own.shape[0]).reshape(-1, *[1] * (own.ndim - 1)) + place * own.shape[0]
        return jax.numpy.where((row == 0) | (row == start.shape[0] - 1), own, after)  # the edges are kept

    along = PartitionSpec("rows")
    parts = jax.shard_map(step, mesh=mesh, in_specs=along, out_specs=along)

    def gradient(one_step: Callable[[Any], Any]) -> Any:
        def misfit(state: Any) -> Any:
            last, _ = jax.lax.scan(lambda now, _: (one_step(now), None), state, None, length=STEPS)
            return 0.5 * ((last - target) ** 2).sum()

        return np.asarray(jax.jit(jax.grad(misfit))(start))

    alone, what = gradient(heat_step), f"heat in a {name}, JAX, one process with {size} devices"
    failed = differs(gradient(parts), alone, LARGEST, what)
    start, target = jax.device_put((start, target), jax.devices()[-1])
    return failed | differs(gradient(heat_step), alone, LARGEST, f"heat in a {name}, JAX, the last device")
