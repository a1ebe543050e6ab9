"""Forward mode: the tangents of what a call writes, the arguments untouched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

import numpy as np

from enzyme_driver.model import Parameter
from enzyme_driver.runtime.backends.libraries import NumpyLibrary, buffer_library
from enzyme_driver.runtime.call.arguments import Arguments
from enzyme_driver.runtime.call.layouts import numpy_dtype
from enzyme_driver.runtime.call.slots import Role, Slot, written
from enzyme_driver.runtime.call.structs import struct_array, struct_rows, takes_members
from enzyme_driver.runtime.call.values import scalar_bytes
from enzyme_driver.runtime.transforms.functional import Derivative, FunctionalCall, Several


class Jvp(FunctionalCall):
    """One Jacobian-vector product: its arguments checked, ready to be run. `arguments` are those of forward mode."""

    role: Role = "tangent"

    def __init__(
        self,
        arguments: Arguments,
        values: Sequence[object],
        tangents: Mapping[str, object],
        directions: int | None = None,
    ) -> None:
        super().__init__(arguments, values, tangents, directions)
        for name, tangent in self._seeds.items():
            parameter, value = self._flat.get(name, (None, None))
            if parameter is not None and not parameter.is_pointer:
                self._seeds[name] = self._by_value(parameter, tangent)
            elif parameter is not None and takes_members(parameter):
                self._seeds[name] = self._of_members(parameter, tangent)
            first = self._first(name)
            if parameter is not None and parameter.is_pointer:
                arguments.check_tangent(parameter, first, value)

    def run(self, carry: Derivative, stream: int | None, several: Several | None = None) -> dict[str, Any]:
        """Call `carry` with copies and tangents made on `stream`, or `several` where there are enough directions; the
        tangents of what is written, and of variables."""
        tangents = self._shadows_after(carry, stream, several)
        outputs = [
            part.name for part, value in self._flat.values() if part.has_shadow and written(part) and value is not None
        ]
        variables = [variable.name for variable in self._arguments.signature.variables if variable.has_shadow]
        return {name: tangents[name] for name in (*outputs, *variables)}

    def _by_value(self, parameter: Parameter, tangent: object) -> object:
        """The tangent of a number or a struct as an array, of one element a direction, where the function finds it."""
        slot = self._slot(parameter)
        if self._directions is not None and (not isinstance(tangent, Sized) or not isinstance(tangent, Iterable)):
            raise slot.wrong(type(tangent).__name__, f"give {self._directions} of them, one a direction")
        to_bytes = _struct_bytes if parameter.dtype.kind == "struct" else scalar_bytes
        values = [tangent] if self._directions is None else list(tangent)  # type: ignore[call-overload]
        data = b"".join(to_bytes(value, slot) for value in values)
        array = np.frombuffer(data, numpy_dtype(parameter.dtype)).reshape(() if self._directions is None else -1)
        if self._arguments.target == "cuda":
            library = self._main_library if self._directions and parameter.is_scalar else buffer_library()
        else:
            library = NumpyLibrary()
        return library.from_host(array, next(iter(self._arrays), None))

    def _of_members(self, parameter: Parameter, tangent: object) -> object:
        """That of a struct behind a reference, for which a dict of its members is given, or one a direction."""
        if isinstance(tangent, Mapping) and self._directions is None:
            return struct_array(self._slot(parameter), tangent)
        if isinstance(tangent, Sequence) and self._directions is not None:
            return struct_rows(self._slot(parameter), tangent)
        return tangent

    def _slot(self, parameter: Parameter) -> Slot:
        return Slot(self._arguments.signature, parameter, "tangent", self._arguments.target, writable=False)


def _struct_bytes(value: object, slot: Slot) -> bytes:
    return struct_array(slot, value).tobytes()
