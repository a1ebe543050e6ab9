"""The numbers of floating point in an array, of structs and of complex numbers too, in a row."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import Parameter
from enzyme_driver.runtime.call.layouts import declared_layout


class Numbers:
    """Those of the array of one parameter."""

    def __init__(self, parameter: Parameter, array: Any) -> None:  # noqa: ANN401
        self._name, self._like = parameter.name, array
        self.places = [(leaf.offset, leaf.size) for leaf in declared_layout(parameter.dtype)[1] if leaf.kind in "fB"]
        self._element = parameter.dtype.size
        self.elements = array.nbytes // self._element
        self.count = self.elements * len(self.places)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """That of each number. Raises ArgumentError where they differ."""
        sizes = {size for _, size in self.places}
        if len(sizes) != 1:
            raise ArgumentError(
                f"a sparse Jacobian with {self._name!r}: its elements hold numbers of several types",
                hint="use vjp or jvp with directions",
            )
        plain = len(self.places) == 1 and self._like.dtype.names is None
        return np.dtype(self._like.dtype) if plain else np.dtype(f"f{sizes.pop()}")

    @property
    def are_all(self) -> bool:
        """Whether an element holds nothing else, in order."""
        return sum(size for _, size in self.places) == self._element

    def spread(self, rows: Any) -> Any:  # noqa: ANN401
        """Arrays like this one out of rows of numbers: [rows, numbers] become [rows, *shape]."""
        shape = (len(rows), *self._like.shape)
        if self.are_all:
            return rows.view(self._like.dtype).reshape(shape)
        made = np.zeros((len(rows), self.elements, self._element), np.uint8)
        numbers = rows.reshape(len(rows), self.elements, len(self.places))
        for place, (offset, size) in enumerate(self.places):
            column = np.ascontiguousarray(numbers[:, :, place])
            made[:, :, offset : offset + size] = column.view(np.uint8).reshape(*column.shape, size)
        return made.reshape(len(rows), -1).view(self._like.dtype).reshape(shape)

    def gathered(self, arrays: Any) -> Any:  # noqa: ANN401
        """The inverse of `spread`."""
        rows = arrays.reshape(len(arrays), -1)
        if self.are_all:
            return rows.view(self.dtype)
        return np.stack([self.column(rows, place).view(self.dtype) for place in range(len(self.places))], -1).reshape(
            len(arrays), -1
        )

    def column(self, rows: Any, place: int) -> Any:  # noqa: ANN401
        """The bits of one number of each element, of arrays [rows, elements]."""
        offset, size = self.places[place]
        data = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), self.elements, self._element)
        return np.ascontiguousarray(data[:, :, offset : offset + size]).view(f"<u{size}")[:, :, 0]
