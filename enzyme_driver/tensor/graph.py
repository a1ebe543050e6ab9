"""Reverse mode over the graph of tensors: every operator's gradient once, results before what they came from."""

from __future__ import annotations

from typing import Any

from enzyme_driver.tensor.array import Tensor

Array = Any
NUMBERED = 2**30
"""Of that many elements and more a launch may add to shadows what it would write into those of fewer."""


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
        written = application.writes_shadows
        targets = [_target(item, shadows, written) if item.requires_grad else None for item in inputs]
        application.backward(shadow, targets)
        for item, target in zip(inputs, targets, strict=True):
            if target is not None:
                _add(target, item, shadows)


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


def _target(tensor: Tensor, shadows: dict[int, Array], written: bool) -> Array:
    """What an operator's gradient writes, or adds to: no array twice, also where it has one input twice."""
    arrays = tensor.device.arrays
    if written:
        return (arrays.empty_like if tensor.data.size < NUMBERED else arrays.zeros_like)(tensor.data)
    found = shadows.pop(id(tensor), None)
    return arrays.zeros_like(tensor.data) if found is None else found


def _add(shadow: Array, tensor: Tensor, shadows: dict[int, Array]) -> None:
    found = shadows.setdefault(id(tensor), shadow)
    if found is not shadow:
        found += shadow
