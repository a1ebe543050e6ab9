"""Tangents along several directions beside each other, as compiled code takes them that carries them together.

Where a number lies in memory, in one direction, there lie its tangents along all directions, one behind the other: a
number at byte n of an array has them from byte n times the number of directions on.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from enzyme_driver.runtime.call.layouts import Leaf, numpy_layout


class Beside:
    """Arrays along some of the directions, their first axis; there are places for `count`, and zeros where none is.

    Arrays that are not `filled` hold zeros.
    """

    def __init__(self, arrays: Mapping[str, Any], filled: Container[str], directions: range, count: int) -> None:
        self._chosen = {name: array[directions.start : directions.stop] for name, array in arrays.items()}
        self._lanes = {name: _lanes(chosen, count) for name, chosen in self._chosen.items()}
        for name, lanes in self._lanes.items():
            if name in filled:
                for one, many in zip(_numbers(self._chosen[name]), lanes.numbers, strict=True):
                    many[..., : len(directions)] = np.moveaxis(one, 0, -1)

    @property
    def fronts(self) -> dict[str, Any]:
        """Arrays that begin where the tangents do, and look as those of one direction."""
        return {name: lanes.front for name, lanes in self._lanes.items()}

    def give_back(self) -> None:
        """What the tangents have become, to the arrays."""
        for name, lanes in self._lanes.items():
            for one, many in zip(_numbers(self._chosen[name]), lanes.numbers, strict=True):
                one[...] = np.moveaxis(many[..., : len(one)], -1, 0)


class _Lanes:
    def __init__(self, data: Any, numbers: list[Any], front: Any) -> None:  # noqa: ANN401  (arrays of any type)
        self.data, self.numbers, self.front = data, numbers, front


def _lanes(chosen: Any, count: int) -> _Lanes:  # noqa: ANN401
    shape, dtype = chosen.shape[1:], chosen.dtype
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
