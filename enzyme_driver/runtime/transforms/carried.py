"""The arguments of calls that carry tangents along one direction after another: checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from enzyme_driver.runtime.call.arguments import Arguments
from enzyme_driver.runtime.call.packing import pointer_bytes
from enzyme_driver.runtime.call.prepared import PreparedArguments


class CarriedArguments:
    """Of one product: its calls have arrays of the same shapes and numbers, each in memory of its own.

    What is checked of the first call holds for the next ones where all that has an address is an array of NumPy:
    nothing else changes.
    """

    def __init__(self, arguments: Arguments) -> None:
        self._arguments = arguments
        self._first: PreparedArguments | None = None

    def __call__(self, values: Sequence[object], shadows: Mapping[str, object]) -> PreparedArguments:
        if self._first:
            return self._moved(self._first, values, shadows) or self._arguments.forward(values, shadows)
        checked = self._arguments.forward(values, shadows)
        moved = self._moved(checked, values, shadows)
        if moved and moved.values == checked.values:
            self._first = checked
        return checked

    def _moved(
        self, first: PreparedArguments, values: Sequence[object], shadows: Mapping[str, object]
    ) -> PreparedArguments | None:
        """The first call with the addresses of these arrays; None where one of them is none of NumPy's."""
        signature = self._arguments.signature
        places = [value if parameter.is_pointer else None for parameter, value in zip(signature, values, strict=True)]
        places += [shadows.get(parameter.name) for parameter in signature.shadowed]
        moved = []
        for data, array in zip(first.values, places, strict=True):
            if isinstance(array, np.ndarray):
                moved.append(pointer_bytes(array.__array_interface__["data"][0]))
            elif array is None:
                moved.append(data)
            else:
                return None
        return replace(first, values=tuple(moved))
