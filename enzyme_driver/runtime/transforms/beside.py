"""Tangents along several directions beside each other, as compiled code takes them that carries them together.

Where a number lies in memory, in one direction, there lie its tangents along all directions, one behind the other: a
number at byte n of an array has them from byte n times the number of directions on.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

import numpy as np

from enzyme_driver.runtime.call.layouts import Leaf, numpy_layout


class Beside:
    """Places for the tangents of `count` directions; in arrays the directions are the first axis.

    Arrays that are not `filled` hold zeros, and those that are `written` are changed by a call.
    """

    def __init__(self, arrays: Mapping[str, Any], filled: Container[str], written: Container[str], count: int) -> None:
        self._arrays, self._filled, self._written = arrays, filled, written
        self._lanes = {name: _lanes(array, count) for name, array in arrays.items()}
        self.fronts: dict[str, Any] = {name: lanes.front for name, lanes in self._lanes.items()}
        """Arrays that begin where the tangents do, and look as those of one direction."""

    def take(self, directions: range) -> None:
        """The tangents along these directions, of which there are no more than places; in the others is anything."""
        for name, lanes in self._lanes.items():
            if name in self._filled:
                for one, many in self._numbers(name, directions):
                    many[...] = np.moveaxis(one, 0, -1)
            elif name in self._written:
                lanes.data[...] = 0

    def give_back(self, directions: range) -> None:
        """What they have become, to the arrays."""
        for name in self._lanes:
            if name in self._written:
                for one, many in self._numbers(name, directions):
                    one[...] = np.moveaxis(many, -1, 0)

    def _numbers(self, name: str, directions: range) -> Iterator[tuple[Any, Any]]:
        """Each number of the elements, in the array and beside each other."""
        chosen = _numbers(self._arrays[name][directions.start : directions.stop])
        for one, many in zip(chosen, self._lanes[name].numbers, strict=True):
            yield one, many[..., : len(directions)]


class _Lanes:
    def __init__(self, data: Any, numbers: list[Any], front: Any) -> None:  # noqa: ANN401  (arrays of any type)
        self.data, self.numbers, self.front = data, numbers, front


def _lanes(array: Any, count: int) -> _Lanes:  # noqa: ANN401
    shape, dtype = array.shape[1:], array.dtype
    data = np.zeros((*shape, count * dtype.itemsize), np.uint8)
    numbers = [
        data[..., count * leaf.offset : count * (leaf.offset + leaf.size)].view(_unit(leaf)) for leaf in _leaves(dtype)
    ]
    front = data.reshape(-1)[: int(np.prod(shape)) * dtype.itemsize].view(dtype).reshape(shape)
    return _Lanes(data, numbers, front)


def _numbers(array: Any) -> list[Any]:  # noqa: ANN401
    """Each number of its elements, as an array of bits of that size."""
    if len(_leaves(array.dtype)) == 1:
        return [array.view(_unit(_leaves(array.dtype)[0]))]
    data = array.reshape(*array.shape, 1).view(np.uint8)
    return [data[..., leaf.offset : leaf.offset + leaf.size].view(_unit(leaf))[..., 0] for leaf in _leaves(array.dtype)]


def _leaves(dtype: np.dtype[Any]) -> tuple[Leaf, ...]:
    return numpy_layout(dtype)[1]


def _unit(leaf: Leaf) -> np.dtype[Any]:
    return np.dtype(f"V{leaf.size}") if leaf.size not in (1, 2, 4, 8) else np.dtype(f"u{leaf.size}")
