"""The functional form of a gradient: new arrays out, the arguments untouched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import DataType, Parameter
from enzyme_driver.runtime.arguments import Arguments
from enzyme_driver.runtime.arrays import is_array
from enzyme_driver.runtime.layouts import numpy_dtype
from enzyme_driver.runtime.libraries import Library, NumpyLibrary, buffer_library, library_of
from enzyme_driver.runtime.members import assembled, flattened, given, is_dict
from enzyme_driver.runtime.slots import written

Gradient = Callable[[Sequence[object], Mapping[str, object]], None]


class Vjp:
    """One vector-Jacobian product: its arguments checked, ready to be run."""

    def __init__(
        self,
        arguments: Arguments,
        values: Sequence[object],
        cotangents: Mapping[str, object] | None,
        wrt: Iterable[str] | str | None,
    ) -> None:
        self._arguments = arguments
        self._given = dict(zip(arguments.signature.names, values, strict=True))
        self._flat = {
            part.name: (part, value)
            for parameter in arguments.signature
            for part, value in flattened(parameter, self._given[parameter.name])
        }
        self._cotangents = self._flat_cotangents(cotangents or {})
        self._wrt = _wrt(arguments, wrt)
        self.given = arguments.untouched(values)
        self._check()

    def _flat_cotangents(self, cotangents: Mapping[str, object]) -> dict[str, object]:
        self._arguments.check_shadow_names(cotangents, "cotangent")
        signature, flat = self._arguments.signature, dict[str, object]()
        for name, cotangent in cotangents.items():
            flat |= given(signature[name], cotangent) if name in signature else {name: cotangent}
        return flat

    def _check(self) -> None:
        for parameter in self._arguments.signature.shadowed:
            if not parameter.shadow_is_pointer and not is_dict(parameter, self._given[parameter.name]):
                raise ArgumentError(
                    f"vjp cannot make the shadow of {parameter.name!r}: {parameter.dtype} holds pointers",
                    hint="give the struct as a dict of its members, or call gradient with a shadow struct",
                )
        for variable in self._arguments.signature.variables:
            if variable.has_shadow and variable.dtype.has_pointers:
                raise ArgumentError(
                    f"vjp cannot make the shadow of the variable {variable.name!r}: {variable.dtype} holds pointers",
                    hint="call gradient with a dict of shadows",
                )
        for name, cotangent in self._cotangents.items():
            parameter, value = self._flat[name]
            self._arguments.check_cotangent(parameter, cotangent, value)
        for name in self._wrt:
            if name in self._flat and self._flat[name][1] is None:
                raise ArgumentError(f"wrt {name!r}: it is None", hint="give it an array, or leave it out of wrt")

    def run(self, gradient: Gradient, stream: int | None) -> dict[str, Any]:
        """Call `gradient` with copies and fresh shadows made on `stream`; the shadows of `wrt`."""
        with self._main_library.on(stream):
            passed = {name: self._passed(part, value) for name, (part, value) in self._flat.items()}
            active = [item for item in self._flat.values() if item[0].has_shadow and item[1] is not None]
            shadows = {part.name: self._shadow(part, value) for part, value in active}
            signature = self._arguments.signature
            shadows |= {v.name: self._zeros(v.shape, v.dtype) for v in signature.variables if v.has_shadow}
            whole = {p.name: assembled(p, shadows) for p in signature.shadowed}
            whole |= {v.name: shadows[v.name] for v in signature.variables if v.has_shadow}
            gradient([assembled(p, passed) for p in signature], whole)
        return {name: shadows[name] if name in shadows else whole[name] for name in self._wrt}

    def _passed(self, parameter: Parameter, value: object) -> object:
        return self._library(value).copy(value) if written(parameter) and value is not None else value

    def _shadow(self, parameter: Parameter, value: object) -> object:
        if parameter.name in self._cotangents:
            cotangent = self._cotangents[parameter.name]
            return self._library(cotangent).copy(cotangent)
        if parameter.is_pointer and is_array(value):
            return self._library(value).zeros_like(value)
        return self._zeros((), parameter.dtype)

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


def _wrt(arguments: Arguments, wrt: Iterable[str] | str | None) -> tuple[str, ...]:
    if wrt is None:
        shadowed = arguments.signature.shadowed
        variables = (v.name for v in arguments.signature.variables if v.has_shadow)
        return (*(p.name for p in shadowed if p.reads or not p.is_pointer), *variables)
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    arguments.check_shadow_names(names, "wrt")
    return names
