"""Reverse mode over the graph of tensors: every operator's gradient once, results before what they came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from enzyme_driver.tensor.application import Application
from enzyme_driver.tensor.array import Tensor

Array = Any
NUMBERED = 2**30
"""Of that many elements and more a launch may add to shadows what it would write into those of fewer."""


def backward(root: Tensor, cotangent: Array) -> None:
    """Add the derivatives of `root`, weighed by `cotangent`, to the gradients of the leaves."""
    if not root.requires_grad:
        return
    shadows = Shadows()
    shadows.add(root, cotangent)
    for tensor in reversed(sorted_topologically(root)):
        if tensor.origin is None:
            _collect(tensor, shadows)
        else:
            _reverse(tensor, *tensor.origin, shadows)


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


class Shadows:
    """The cotangents that are known so far. One array may be that of several tensors; then nobody writes to it."""

    def __init__(self) -> None:
        self._arrays: dict[int, Array] = {}
        self._holders: Counter[int] = Counter()

    def __contains__(self, tensor: Tensor) -> bool:
        return id(tensor) in self._arrays

    def add(self, tensor: Tensor, array: Array) -> None:
        """To what the tensor's cotangent is so far; the array is held from now on."""
        found = self._arrays.get(id(tensor))
        if found is None:
            self._hold(tensor, array)
        elif found is array or self._holders[id(found)] > 1:
            self._release(tensor)
            self._hold(tensor, found + array)
        else:
            found += array

    def of(self, tensor: Tensor, *, changed: bool) -> Array:
        """The tensor's cotangent, for a caller who may change it or not."""
        array = self._arrays[id(tensor)]
        if not changed or self._holders[id(array)] == 1:
            return array
        self._release(tensor)
        self._hold(tensor, array.copy())
        return self._arrays[id(tensor)]

    def take(self, tensor: Tensor) -> Array:
        """The tensor's cotangent, which is the caller's from now on."""
        self.of(tensor, changed=True)
        return self._release(tensor)

    def hand_on(self, tensor: Tensor, items: Sequence[Tensor]) -> None:
        """The tensor's cotangent is added to those of others, and is not the tensor's any more."""
        array = self._release(tensor)
        for item in items:
            self.add(item, array)

    def _hold(self, tensor: Tensor, array: Array) -> None:
        self._arrays[id(tensor)] = array
        self._holders[id(array)] += 1

    def _release(self, tensor: Tensor) -> Array:
        array = self._arrays.pop(id(tensor))
        self._holders[id(array)] -= 1
        return array


def _collect(leaf: Tensor, shadows: Shadows) -> None:
    shadow = shadows.take(leaf)
    if leaf.grad is not None:
        shadow += leaf.grad
    leaf.grad = shadow


def _reverse(tensor: Tensor, application: Application, inputs: Sequence[Tensor], shadows: Shadows) -> None:
    """Take an operator's result back to its inputs."""
    handed = application.handed_on([item.requires_grad for item in inputs])
    computed = [item.requires_grad and not passed for item, passed in zip(inputs, handed, strict=True)]
    if any(computed):
        cotangent = shadows.of(tensor, changed=not application.keeps_cotangent(computed))
        written = application.writes_shadows
        targets = [_target(item, shadows, written) if c else None for item, c in zip(inputs, computed, strict=True)]
        application.backward(cotangent, targets)
        for item, target in zip(inputs, targets, strict=True):
            if target is not None:
                shadows.add(item, target)
    shadows.hand_on(tensor, [item for item, passed in zip(inputs, handed, strict=True) if passed])


def _target(tensor: Tensor, shadows: Shadows, written: bool) -> Array:
    """What an operator's gradient writes, or adds to: no array twice, also where it has one input twice."""
    arrays = tensor.device.arrays
    if written:
        return (arrays.empty_like if tensor.data.size < NUMBERED else arrays.zeros_like)(tensor.data)
    return shadows.take(tensor) if tensor in shadows else arrays.zeros_like(tensor.data)
