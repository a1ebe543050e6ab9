"""What a description is called with: it notes the arrays that are made and the launches, and runs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from enzyme_driver.errors import UsageError
from enzyme_driver.frameworks.plan import Copying, Filling, Plan, Planned, PlannedLaunch, Reference, Spec, dtype_name


class Array:
    """What a description sees of an array: its shape and dtype."""

    def __init__(self, number: int, planned: Planned) -> None:
        self.number = number
        self.planned = planned

    @property
    def shape(self) -> tuple[int, ...]:
        return self.planned.spec.shape

    @property
    def dtype(self) -> Any:
        """A `numpy.dtype`, or the text bfloat16."""
        name = self.planned.spec.dtype
        return name if name == "bfloat16" else np.dtype(name)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<{self.planned.name}: {self.planned.spec.dtype} of shape {self.shape}>"


Returned = Callable[[str | None], str | None]
"""The dtype of the number that the function of this name returns; None where it returns none."""


class Launch:
    """The first parameter of a description."""

    def __init__(self, operator: str, inputs: Sequence[tuple[str, Spec]], returned: Returned) -> None:
        self._operator = operator
        self._arrays = [Planned(name, spec, given=True) for name, spec in inputs]
        self._inputs = len(self._arrays)
        self._steps: list[PlannedLaunch | Filling | Copying] = []
        self._returned = returned

    def given(self) -> list[Array]:
        """The operator's inputs."""
        return [Array(number, planned) for number, planned in enumerate(self._arrays[: self._inputs])]

    def empty(self, shape: int | Sequence[int], dtype: object) -> Array:
        """A new array, whose elements the launches have to write."""
        return self._make(self._shape(shape), dtype_name(dtype))

    def zeros(self, shape: int | Sequence[int], dtype: object) -> Array:
        """A new array of zeros, for kernels that add to it."""
        made = self._make(self._shape(shape), dtype_name(dtype))
        self._steps.append(Filling(made.number))
        return made

    def empty_like(self, array: Array, dtype: object = None) -> Array:
        return self.empty(self._planned(array).spec.shape, array.dtype if dtype is None else dtype)

    def zeros_like(self, array: Array, dtype: object = None) -> Array:
        return self.zeros(self._planned(array).spec.shape, array.dtype if dtype is None else dtype)

    def copy(self, array: Array) -> Array:
        """A new array with the elements of another one, for kernels that change an array in place."""
        source = self._planned(array)
        made = self._make(source.spec.shape, source.spec.dtype)
        self._steps.append(Copying(made.number, array.number))
        return made

    def __call__(
        self,
        *,
        args: Sequence[Any],
        grid: Any = None,
        block: Any = None,
        outputs: Any = None,
        shared_bytes: int | None = None,
        kernel: str | None = None,
    ) -> Any:
        """Launch a kernel, or call a C++ function where no grid is given.

        `kernel` names one where the operator has several. Returns `outputs`; where these are not given, the number that
        a function returns, as an array of no dimension.
        """
        if (grid is None) != (block is None):
            raise UsageError(f"{self._operator}: a launch needs a grid and a block", hint="give both, or none in C++")
        given = tuple(self._argument(value) for value in args)
        dtype = self._returned(kernel) if grid is None else None
        number = -1
        if dtype is not None:
            number = self._make((), dtype).number
        self._steps.append(PlannedLaunch(kernel or "", _extents(grid), _extents(block), shared_bytes, given, number))
        if outputs is None and dtype is not None:
            return Array(number, self._arrays[number])
        return outputs

    def plan(self, returned: object, results: int) -> Plan:
        """What was noted. Raises UsageError where the description returned something else than arrays that it made."""
        outputs = returned if isinstance(returned, (tuple, list)) else (returned,)
        for each in outputs:
            if not isinstance(each, Array):
                what = f"{self._operator}: the description returns {type(each).__name__}"
                raise UsageError(what, hint="return what launch(..., outputs=...) gives, or arrays of launch.empty()")
            if self._planned(each).given:
                name = self._planned(each).name
                what = f"{self._operator}: the description returns its own input {name!r}"
                raise UsageError(what, hint=f"an operator makes its outputs: {name} = launch.copy({name})")
        numbers = tuple(each.number for each in outputs)
        if len(set(numbers)) < len(numbers):
            raise UsageError(f"{self._operator}: the description returns one array twice", hint="return it once")
        if len(numbers) != results:
            raise UsageError(
                f"{self._operator}: the description returns {len(numbers)} arrays, and results={results} was said",
                hint=f"write @adgen.operator(..., results={len(numbers)})",
            )
        return Plan(tuple(self._arrays), self._inputs, tuple(self._steps), numbers)

    def _shape(self, shape: Any) -> tuple[int, ...]:
        extents = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        for extent in extents:
            if isinstance(extent, float) or extent < 0:
                what = f"{self._operator}: no array has the shape {extents}"
                raise UsageError(what, hint="give whole numbers, none below 0")
        return extents

    def _make(self, shape: tuple[int, ...], dtype: str) -> Array:
        number = len(self._arrays)
        self._arrays.append(Planned(f"array {number - self._inputs}", Spec(shape, dtype), given=False))
        return Array(number, self._arrays[number])

    def _planned(self, array: object) -> Planned:
        if isinstance(array, Array) and any(array.planned is own for own in self._arrays):
            return array.planned
        what = f"{self._operator}: {type(array).__name__} is no array of this launch"  # or one of another call's
        raise UsageError(what, hint="give the operator's arrays, or what launch.empty() made")

    def _argument(self, value: Any) -> Any:
        if isinstance(value, Array):
            self._planned(value)
            return Reference(value.number)
        if isinstance(value, Mapping):
            return {key: self._argument(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._argument(item) for item in value]
        return value


def cdiv(count: int, size: int) -> int:
    """How many blocks of `size` cover `count` elements."""
    return -(-count // size)


def _extents(extents: Any) -> tuple[int, ...] | None:
    if extents is None:
        return None
    return tuple(extents) if isinstance(extents, (tuple, list)) else (extents,)
