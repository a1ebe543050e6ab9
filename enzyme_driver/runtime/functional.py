"""What the functional forms of both modes share: copies of what is written, fresh shadows, the arguments untouched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import DataType, Parameter
from enzyme_driver.runtime.arguments import Arguments
from enzyme_driver.runtime.arrays import is_array
from enzyme_driver.runtime.layouts import numpy_dtype
from enzyme_driver.runtime.libraries import Library, NumpyLibrary, buffer_library, library_of
from enzyme_driver.runtime.members import assembled, flattened, given, is_dict
from enzyme_driver.runtime.slots import Role, written

Derivative = Callable[[Sequence[object], Mapping[str, object]], None]
"""Runs the gradient, or what carries tangents, on arguments and shadows."""


class FunctionalCall:
    """A derivative of one call: its arguments and the given shadows (`seeds`) by the names of arrays."""

    role: Role

    def __init__(self, arguments: Arguments, values: Sequence[object], seeds: Mapping[str, object]) -> None:
        self._arguments = arguments
        self._given = dict(zip(arguments.signature.names, values, strict=True))
        self._flat = {
            part.name: (part, value)
            for parameter in arguments.signature
            for part, value in flattened(parameter, self._given[parameter.name])
        }
        self._seeds = self._flat_seeds(seeds)
        self.given = arguments.untouched(values)
        self._check_structs()

    def _flat_seeds(self, seeds: Mapping[str, object]) -> dict[str, object]:
        self._arguments.check_shadow_names(seeds, self.role)
        signature, flat = self._arguments.signature, dict[str, object]()
        for name, seed in seeds.items():
            flat |= given(signature[name], seed) if name in signature else {name: seed}
        return flat

    def _check_structs(self) -> None:
        for parameter in self._arguments.signature.shadowed:
            if not parameter.shadow_is_pointer and not is_dict(parameter, self._given[parameter.name]):
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

    def _shadows_after(self, derivative: Derivative, stream: int | None) -> dict[str, Any]:
        """Call `derivative` with copies and shadows made on `stream`; the shadows, of members and of whole structs."""
        with self._main_library.on(stream):
            passed = {name: self._passed(part, value) for name, (part, value) in self._flat.items()}
            active = [item for item in self._flat.values() if item[0].has_shadow and item[1] is not None]
            shadows = {part.name: self._shadow(part, value) for part, value in active}
            signature = self._arguments.signature
            variables = [variable for variable in signature.variables if variable.has_shadow]
            shadows |= {each.name: self._variable_shadow(each.name, each.shape, each.dtype) for each in variables}
            whole = {p.name: assembled(p, shadows) for p in signature.shadowed}
            whole |= {variable.name: shadows[variable.name] for variable in variables}
            derivative([assembled(p, passed) for p in signature], whole)
        return {**whole, **shadows}

    def _passed(self, parameter: Parameter, value: object) -> object:
        return self._library(value).copy(value) if written(parameter) and value is not None else value

    def _shadow(self, parameter: Parameter, value: object) -> object:
        if parameter.name in self._seeds:
            seed = self._seeds[parameter.name]
            return self._library(seed).copy(seed)
        if parameter.is_pointer and is_array(value):
            return self._library(value).zeros_like(value)
        return self._zeros((), parameter.dtype)

    def _variable_shadow(self, name: str, shape: tuple[int, ...], dtype: DataType) -> object:
        seed = self._seeds.get(name)
        return self._zeros(shape, dtype) if seed is None else self._library(seed).copy(seed)

    def _zeros(self, shape: tuple[int, ...], dtype: DataType) -> object:
        on_gpu = self._arguments.target == "cuda"
        library = buffer_library() if on_gpu and dtype.kind == "struct" else self._main_library
        return library.zeros(shape, numpy_dtype(dtype), next(iter(self._arrays), None))

    @property
    def _arrays(self) -> list[object]:
        return [value for part, value in self._flat.values() if part.is_pointer and is_array(value)]

    @property
    def _main_library(self) -> Library:
        arrays, on_gpu = self._arrays, self._arguments.target == "cuda"
        return self._library(arrays[0]) if arrays else buffer_library() if on_gpu else NumpyLibrary()

    def _library(self, value: object) -> Library:
        return library_of(value, self._arguments.target)
