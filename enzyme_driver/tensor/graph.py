"""Reverse mode over the graph of tensors: every operator's gradient once, results before what they came from."""

from __future__ import annotations

from typing import Any

from enzyme_driver.tensor.array import Tensor

Array = Any


def backward(root: Tensor, cotangent: Array) -> None:
    """Add the derivatives of `root`, weighed by `cotangent`, to the gradients of the leaves."""
    if not root.requires_grad:
        return
    shadows = {id(root): cotangent}
    for tensor in reversed(sorted_topologically(root)):
        shadow = shadows.pop(id(tensor))
        if tensor.origin is None:
            if tensor.grad is not None:
                shadow += tensor.grad
            tensor.grad = shadow
            continue
        application, inputs = tensor.origin
        targets: list[Array] = [_shadow(item, shadows) if item.requires_grad else None for item in inputs]
        twice = targets[0] is not None and targets[0] is targets[-1] and len(targets) > 1
        if twice:  # two shadows of one kernel must not overlap
            targets[-1] = tensor.device.arrays.zeros_like(targets[0])
        application.backward(shadow, targets)
        if twice:
            targets[0] += targets[-1]


def sorted_topologically(root: Tensor) -> list[Tensor]:
    """All that `root` was computed from and has a gradient, each behind its own inputs; `root` is the last."""
    order: list[Tensor] = []
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        tensor, done = stack.pop()
        if done:
            order.append(tensor)
        elif id(tensor) not in seen:
            seen.add(id(tensor))
            stack.append((tensor, True))
            inputs = tensor.origin[1] if tensor.origin else ()
            stack.extend((item, False) for item in inputs if item.requires_grad)
    return order


def _shadow(tensor: Tensor, shadows: dict[int, Array]) -> Array:
    if id(tensor) not in shadows:
        shadows[id(tensor)] = tensor.device.arrays.zeros_like(tensor.data)
    return shadows[id(tensor)]
