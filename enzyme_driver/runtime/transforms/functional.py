"""What the functional forms of both modes share: copies of what is written, fresh shadows, the arguments untouched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import DataType, Parameter
from enzyme_driver.runtime.backends.libraries import Library, NumpyLibrary, buffer_library, library_of
from enzyme_driver.runtime.call.arguments import Arguments
from enzyme_driver.runtime.call.arrays import is_array, is_jax
from enzyme_driver.runtime.call.by_name import check_by_name
from enzyme_driver.runtime.call.conversion import array_value
from enzyme_driver.runtime.call.layouts import numpy_dtype
from enzyme_driver.runtime.call.members import assembled, flattened, given, has_parts, members
from enzyme_driver.runtime.call.slots import Role, Slot, written
from enzyme_driver.runtime.transforms.beside import Beside

Derivative = Callable[[Sequence[object], Mapping[str, object]], None]
"""Runs the gradient, or what carries tangents, on arguments and shadows."""


FEWEST = 3
"""So many directions at least are done together."""


@dataclass(frozen=True)
class Several:
    """What runs up to `count` directions at once, on the same arguments: `run` takes shadows beside each other, and how
    many directions there are.
    """

    count: int
    run: Callable[[Sequence[object], Mapping[str, object], int], None]


class FunctionalCall:
    """A derivative of one call: its arguments and the given shadows (`seeds`) by the names of arrays.

    With `directions`, seeds and results have one more axis, the first, of that length.
    """

    role: Role

    def __init__(
        self, arguments: Arguments, values: Sequence[object], seeds: Mapping[str, object], directions: int | None
    ) -> None:
        check_by_name(seeds, self.role)
        self._arguments = arguments
        self._directions = checked_directions(directions)
        self._given = dict(zip(arguments.signature.names, values, strict=True))
        self._flat = {
            part.name: (part, value)
            for parameter in arguments.signature
            for part, value in _parts(parameter, self._given[parameter.name])
        }
        self._arrays = [value for part, value in self._flat.values() if part.is_pointer and is_array(value)]
        self._seeds = self._flat_seeds(seeds)
        self.given = arguments.untouched(values)
        self._check_structs()
        self.check_rows(self._seeds)

    def check_rows(self, names: Iterable[str]) -> None:
        """Raise ArgumentError for a row that its table does not have."""
        signature = self._arguments.signature
        known = {part.parameter.name for parameter in signature for part in members(parameter)} | {*self._flat}
        for name in names:
            if name.endswith("]") and name not in known:
                raise ArgumentError(f"{self.role} {name!r}: the table has fewer rows", hint="they count from 0")

    def _flat_seeds(self, seeds: Mapping[str, object]) -> dict[str, object]:
        self._arguments.check_shadow_names(seeds, self.role)
        variables = {variable.name for variable in self._arguments.signature.variables}
        flat = dict[str, object]()
        for name, seed in seeds.items():
            parameter = None if name in variables else self._arguments.named(name, self.role)
            flat |= given(parameter, seed) if parameter and parameter.activity != "active" else {name: seed}
        return flat

    def _check_structs(self) -> None:
        for parameter in self._arguments.signature.shadowed:
            if not parameter.shadow_is_pointer and not has_parts(parameter, self._given[parameter.name]):
                raise ArgumentError(
                    f"adgen cannot make the shadow of {parameter.name!r}: {parameter.dtype} holds pointers",
                    hint="give the struct as a dict of its members, or call gradient with a shadow struct",
                )
        for variable in self._arguments.signature.variables:
            if variable.has_shadow and variable.dtype.has_pointers:
                raise ArgumentError(
                    f"adgen cannot make the shadow of the variable {variable.name!r}: {variable.dtype} holds pointers",
                    hint="call gradient with a dict of shadows",
                )

    def _shadows_after(
        self, derivative: Derivative, stream: int | None, several: Several | None = None
    ) -> dict[str, Any]:
        """Call `derivative` with copies and shadows made on `stream`; the shadows, of members and of whole structs.

        `several` does directions in its place, as long as there are enough of them.
        """
        with self._main_library.on(stream):
            shadows = self._made_shadows() | self._variable_shadows()
            together = several if several and self._can_lie_beside(shadows) else None
            beside = Beside(shadows, self._seeds, self._written(shadows), together.count) if together else None
            for directions in self._at_once(together.count if together else 1):
                passed = {name: self._passed(part, value) for name, (part, value) in self._flat.items()}
                values = [assembled(p, passed) for p in self._arguments.signature]
                if together and beside and len(directions) > 1:
                    beside.take(directions)
                    together.run(values, self._whole(beside.fronts), len(directions))
                    beside.give_back(directions)
                else:
                    own = shadows if self._directions is None else self._along(shadows, directions[0])
                    derivative(values, self._whole(own))
        return {**self._whole(shadows), **shadows}

    def _can_lie_beside(self, shadows: Mapping[str, object]) -> bool:
        """Whether they are arrays of NumPy to which no pointer inside another argument leads."""
        tables = any(parameter.dtype.has_pointers for parameter in self._arguments.signature.shadowed)
        return not tables and all(isinstance(shadow, np.ndarray) for shadow in shadows.values())

    def _written(self, shadows: Iterable[str]) -> set[str]:
        """Those of what the call writes, and of variables."""
        return {name for name in shadows if name not in self._flat or written(self._flat[name][0])}

    def _at_once(self, count: int) -> Iterator[range]:
        """The directions in groups of up to `count`, or one by one where it would not pay."""
        every = self._directions or 1
        for first in range(0, every, count):
            group = range(first, min(first + count, every))
            yield from [group] if len(group) >= FEWEST else [range(each, each + 1) for each in group]

    def fresh_shadows(self, stream: int | None) -> list[object]:
        """A shadow for each parameter that has one, in order; None for an argument that is None."""
        with self._main_library.on(stream):
            made = self._made_shadows()
        shadowed = self._arguments.signature.shadowed
        return [assembled(p, made) if self._given[p.name] is not None else None for p in shadowed]

    def shadows_by_name(self, stream: int | None) -> dict[str, object]:
        """A shadow for each parameter and variable that has one, as the gradient in place takes them."""
        with self._main_library.on(stream):
            return self._whole(self._made_shadows() | self._variable_shadows())

    def _made_shadows(self) -> dict[str, object]:
        active = [item for item in self._flat.values() if item[0].has_shadow and item[1] is not None]
        return {part.name: self._shadow(part, value) for part, value in active}

    def _of(self, name: str, shadows: Mapping[str, object]) -> object:
        """The shadow of that name among those of parts and parameters, or those of the rows of a table in a struct."""
        return shadows[name] if name in shadows else assembled(self._arguments.named(name, self.role), shadows)

    def _whole(self, shadows: Mapping[str, object]) -> dict[str, object]:
        """Shadows of parts by parameter and variable."""
        signature = self._arguments.signature
        made = {p.name: assembled(p, shadows) for p in signature.shadowed if self._given[p.name] is not None}
        return made | {v.name: shadows[v.name] for v in signature.variables if v.has_shadow}

    def _along(self, shadows: Mapping[str, object], direction: int) -> dict[str, object]:
        return {name: self._part(name, shadow, direction) for name, shadow in shadows.items()}

    def _part(self, name: str, shadow: Any, direction: int) -> object:  # noqa: ANN401
        """What belongs to one direction, as a view. The elements of an array of numbers are arrays of one element."""
        if is_jax(shadow) or not hasattr(shadow, "__getitem__"):
            raise ArgumentError(
                f"directions: parts of {name!r}, a {type(shadow).__name__}, cannot be written to",
                hint="call once for each direction",
            )
        return shadow[direction] if len(shadow.shape) > 1 else shadow[direction : direction + 1]

    def _first(self, name: str) -> object:
        """The seed, or that of the first direction, once the number of directions is right."""
        seed: Any = self._seeds[name]
        if self._directions is None:
            return seed
        shape = tuple(getattr(seed, "shape", ()))
        if not shape or shape[0] != self._directions:
            raise ArgumentError(
                f"{self.role} {name!r}: its first axis must have {self._directions} elements, one a direction; "
                f"its shape is {shape}",
                hint="stack those of the directions",
            )
        return seed[0]

    def _shape(self, *own: int) -> tuple[int, ...]:
        return own if self._directions is None else (self._directions, *own)

    def _passed(self, parameter: Parameter, value: object) -> object:
        return self._library(value).copy(value) if written(parameter) and value is not None else value

    def _shadow(self, parameter: Parameter, value: object) -> object:
        if parameter.name in self._seeds:
            seed = self._seeds[parameter.name]
            return self._library(seed).copy(seed)
        if parameter.is_pointer and is_array(value):
            return self._zeros_like(parameter, value)
        return self._zeros((), parameter.dtype)

    def _zeros_like(self, parameter: Parameter, value: Any) -> object:  # noqa: ANN401
        library = self._library(value)
        if self._directions is None:
            return library.zeros_like(value)
        slot = Slot(self._arguments.signature, parameter, "argument", self._arguments.target, writable=False)
        view, given = array_value(value, slot).view, getattr(value, "dtype", None)
        dtype = given if isinstance(given, np.dtype) else numpy_dtype(parameter.dtype)
        return library.zeros(self._shape(*view.shape) if view else (), dtype, value)

    def _variable_shadows(self) -> dict[str, object]:
        variables = (variable for variable in self._arguments.signature.variables if variable.has_shadow)
        return {each.name: self._variable_shadow(each.name, each.shape, each.dtype) for each in variables}

    def _variable_shadow(self, name: str, shape: tuple[int, ...], dtype: DataType) -> object:
        seed = self._seeds.get(name)
        return self._zeros(shape, dtype) if seed is None else self._library(seed).copy(seed)

    def _zeros(self, shape: tuple[int, ...], dtype: DataType) -> object:
        on_gpu = self._arguments.target == "cuda"
        library = buffer_library() if on_gpu and dtype.kind == "struct" else self._main_library
        return library.zeros(self._shape(*shape), numpy_dtype(dtype), self._arrays[0] if self._arrays else None)

    @property
    def _main_library(self) -> Library:
        arrays, on_gpu = self._arrays, self._arguments.target == "cuda"
        return self._library(arrays[0]) if arrays else buffer_library() if on_gpu else NumpyLibrary()

    def _library(self, value: object) -> Library:
        return library_of(value, self._arguments.target)


def _parts(parameter: Parameter, value: object) -> tuple[tuple[Parameter, object], ...]:
    """The members of a struct that is given as a dict; an active one has one shadow as a whole."""
    return ((parameter, value),) if parameter.activity == "active" else flattened(parameter, value)


def checked_directions(directions: int | None) -> int | None:
    """How many directions at once, None for a call with a single one."""
    if directions is None or (isinstance(directions, int) and not isinstance(directions, bool) and directions > 0):
        return directions
    raise ArgumentError(f"directions={directions!r} is not a number of directions", hint="give 1, 2, 3, ...")
