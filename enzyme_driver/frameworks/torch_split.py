"""Operators on PyTorch's DTensor: each device computes with its own parts, where the description says that it may."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from enzyme_driver.errors import ArgumentError
from enzyme_driver.frameworks.code import HOST
from enzyme_driver.frameworks.torch_run import specs_of

if TYPE_CHECKING:
    from enzyme_driver.frameworks.description import Operator

Tensors = Sequence[Any]


def are_shared(tensors: Tensors) -> bool:
    """Whether any is a DTensor."""
    library = sys.modules.get("torch.distributed.tensor")
    return library is not None and any(isinstance(tensor, library.DTensor) for tensor in tensors)


def run(operator: Operator, tensors: Tensors, statics: Sequence[Any], own: Callable[..., Tensors]) -> list[Any]:
    """The results as DTensors; `own` runs the operator on what this device has.

    Raises ArgumentError for tensors that are split where the operator is not.
    """
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

    there = [(each.name, tensor) for each, tensor in zip(operator.arrays, tensors, strict=True) if tensor is not None]
    for name, tensor in there:
        if not isinstance(tensor, DTensor):
            hint = f"distribute it: torch.distributed.tensor.distribute_tensor({name}, mesh)"
            raise ArgumentError(f"{operator.name}: argument {name!r} is a plain tensor, others are DTensors", hint=hint)
    mesh = there[0][1].device_mesh
    axes = operator.split.inputs if operator.split else {}
    split = [_is_split(operator.name, axes, there, dim) for dim in range(mesh.ndim)]

    def placed(axis: int | None, whole: Any) -> list[Any]:
        return [whole if not parts or axis is None else Shard(axis) for parts in split]

    local: list[Any] = []
    for each, tensor in zip(operator.arrays, tensors, strict=True):
        if tensor is None:
            local.append(None)
            continue
        axis = axes.get(each.name)
        wanted = placed(axis, Replicate())
        sums = [Partial() if parts and axis is None else kept for parts, kept in zip(split, wanted, strict=True)]
        local.append(tensor.redistribute(mesh, wanted).to_local(grad_placements=sums))
    made = own(local, statics)
    results = operator.split.results if operator.split else (0,) * len(made)
    plan = operator.plan(specs_of(tensors), statics, HOST)
    found = []
    for number, (each, spec, axis) in enumerate(zip(made, plan.results, results, strict=True)):
        placements = placed(axis, Replicate())
        if any(split):
            _check(operator, number, (each, spec.shape), (there, local))
        whole = torch.empty(spec.shape, device="meta")
        joined = DTensor.from_local(each, mesh, placements, run_check=False, shape=whole.size(), stride=whole.stride())
        found.append(joined)
    return found


def _is_split(name: str, axes: dict[str, int], there: Sequence[tuple[str, Any]], dim: int) -> bool:
    """Whether arrays are split along this dimension of the mesh."""
    found = False
    for array, tensor in there:
        placement = tensor.placements[dim]
        axis = placement.dim % tensor.ndim if placement.is_shard() else None
        if placement.is_partial() or (axis is not None and axes.get(array) != axis):
            said = f"only along axis {axes[array]}" if array in axes else "along no axis"
            raise ArgumentError(
                f"{name}: argument {array!r} is {placement}, and the operator may have it split {said}",
                hint="redistribute it, or say split= in the description",
            )
        found |= axis is not None
    return found


def _check(operator: Operator, number: int, result: tuple[Any, Sequence[int]], given: tuple[Any, Any]) -> None:
    """The results grow with the inputs along their axes, and are the same along others."""
    (own, whole), (there, local) = result, given
    if operator.split is None:
        return
    axis = operator.split.results[number]
    name, tensor = next((name, tensor) for name, tensor in there if name in operator.split.inputs)
    along = operator.split.inputs[name]
    part = local[[each.name for each in operator.arrays].index(name)].shape[along]
    others = [extent for place, extent in enumerate(own.shape) if place != axis]
    same = others == [extent for place, extent in enumerate(whole) if place != axis]
    if not same or own.shape[axis] * tensor.shape[along] != whole[axis] * part:
        raise ArgumentError(
            f"{operator.name}: result {number} of a part is {tuple(own.shape)}, of the whole {tuple(whole)}, which is "
            f"not split along axis {axis} as {name!r} is along {along}",
            hint='see "return" of split= in the description',
        )
