"""`__constant__` and `__device__` variables of a kernel: read and set from Python, and their shadows."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, Protocol

import numpy as np

from enzyme_driver.errors import ArgumentError, NameNotFoundError
from enzyme_driver.model import Form, Parameter, Signature, Target, Variable
from enzyme_driver.runtime.call.conversion import array_value, struct_shadow, struct_value
from enzyme_driver.runtime.call.layouts import numpy_dtype
from enzyme_driver.runtime.call.prepared import Value, VariableShadow
from enzyme_driver.runtime.call.slots import Role, Slot
from enzyme_driver.runtime.tape.record import refuse_while_recording


class VariableMemory(Protocol):
    """Where a target keeps its variables."""

    target: Target

    def read_variable(self, symbol: str, size: int) -> bytes: ...

    def write_variable(self, symbol: str, data: bytes) -> None: ...


class _NoSuchVariableError(NameNotFoundError, KeyError):
    """Also a KeyError, as mappings raise it."""


class Variables(MutableMapping[str, Any]):
    """`k.variables["coefficients"] = array`: all kernels of one compilation share the memory.

    Reading gives a new NumPy array of the declared shape and dtype (a NumPy scalar for a single value). Setting takes
    what NumPy makes an array of that shape of; an array must have the declared dtype. A pointer is set with
    the array that it is to point to, an array of pointers with a list of arrays, a struct of pointers with a dict of
    arrays; they are kept as long as they are set.
    """

    def __init__(self, signature: Signature, memory: VariableMemory) -> None:
        self._signature = signature
        self._memory = memory
        self._known = {variable.name: variable for variable in signature.variables}
        self._set: dict[str, Value] = {}  # keeps alive what a variable points to

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  (an array or a scalar)
        variable = self._variable(name)
        dtype = numpy_dtype(variable.dtype)
        return np.frombuffer(self._bytes(variable), dtype).reshape(variable.shape).copy()[()]

    def __setitem__(self, name: str, value: object) -> None:
        variable = self._variable(name)
        hint = "set it before the `with` block, and leave it until the gradient is taken"
        refuse_while_recording(f"the variable {name!r} is set", "it", hint)
        if variable.dtype.kind == "pointer":
            self._set[name] = self._addresses(variable, value, "variable")
            data = self._set[name].data
        elif isinstance(value, Mapping) and not variable.shape:
            self._set[name] = struct_value(value, self._given_by_members(variable))
            data = self._set[name].data
        elif structs := _structs(variable, value):
            slot = self._given_by_members(variable)
            data = b"".join(struct_value(item, slot).data for item in structs)
        else:
            data = _array_of(variable, value).tobytes()
        self._memory.write_variable(variable.symbol, data)

    def is_set(self, name: str) -> bool:
        """Whether it holds anything but zeros."""
        return any(self._bytes(self._variable(name)))

    def point_as(self, other: Variables, name: str) -> None:
        """What holds addresses leads to the same arrays as the other's variable of that name."""
        variable = self._variable(name)
        self._memory.write_variable(variable.symbol, other._bytes(variable))
        if name in other._set:
            self._set[name] = other._set[name]

    def _bytes(self, variable: Variable) -> bytes:
        return self._memory.read_variable(variable.symbol, variable.dtype.size * prod(variable.shape))

    def __delitem__(self, name: str) -> None:
        raise ArgumentError(f"the variable {name!r} cannot be deleted", hint="set it to zeros")

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"<adgen variables of {self._signature.name}: {', '.join(self) or 'none'}>"

    def shadows(self, given: Mapping[str, object]) -> tuple[VariableShadow, ...]:
        """Those of all variables that have one. Raises ArgumentError for one that is missing or does not fit."""
        return tuple(self._shadow(variable, given) for variable in self._known.values() if variable.has_shadow)

    def _shadow(self, variable: Variable, given: Mapping[str, object]) -> VariableShadow:
        name, symbol = variable.name, variable.shadow_symbol
        if name not in given:
            raise ArgumentError(
                f"the shadow of the variable {name!r} is missing", hint=f'give it in shadows={{"{name}": ...}}'
            )
        slot = self._slot(variable, "shadow")
        if variable.dtype.kind == "pointer":
            return VariableShadow(symbol, self._addresses(variable, given[name], "shadow").data, None)
        if variable.dtype.has_pointers:
            primal = self._set.get(name) or Value(self._bytes(variable))
            return VariableShadow(symbol, struct_shadow(given[name], slot, primal).data, None)
        value = array_value(given[name], slot)
        wanted = variable.dtype.size * prod(variable.shape)
        if value.view is None or value.view.nbytes != wanted:
            raise slot.wrong("one of another size", f"make it of shape {variable.shape}")
        return VariableShadow(symbol, b"", value.view)

    def _addresses(self, variable: Variable, value: object, role: Role) -> Value:
        """Of an array, or of as many as an array of pointers has."""
        slot, count = self._slot(variable, role), prod(variable.shape)
        if not variable.shape:
            return array_value(value, slot)
        if not isinstance(value, (list, tuple)) or len(value) != count:
            raise slot.wrong(type(value).__name__, f"give a list of {count} arrays")
        values = [array_value(item, slot) for item in value]
        return Value(b"".join(each.data for each in values), keep=values)

    def _slot(self, variable: Variable, role: Role) -> Slot:
        form: Form = "struct" if variable.dtype.kind == "struct" and variable.dtype.has_pointers else "pointer"
        dtype = variable.dtype.pointee or variable.dtype
        parameter = Parameter(variable.name, form, dtype, const=True, activity=variable.activity, writes=False)
        return Slot(self._signature, parameter, role, self._memory.target, writable=True)

    def _given_by_members(self, variable: Variable) -> Slot:
        slot = self._slot(variable, "variable")
        return replace(slot, parameter=replace(slot.parameter, form="struct"))

    def _variable(self, name: str) -> Variable:
        if name in self._known:
            return self._known[name]
        near = difflib.get_close_matches(str(name), self._known) or list(self._known)
        hint = f"it has {', '.join(near)}" if near else "only __constant__ and __device__ variables can be set"
        raise _NoSuchVariableError(f"{self._signature.name} has no variable {name!r}", hint=hint)


def _structs(variable: Variable, value: object) -> Sequence[object]:
    """The dicts where an array of structs without pointers is given by them, else nothing."""
    if not isinstance(value, (list, tuple)) or variable.shape != (len(value),) or variable.dtype.has_pointers:
        return ()
    return value if all(isinstance(item, Mapping) for item in value) else ()


def _array_of(variable: Variable, value: object) -> np.ndarray[Any, np.dtype[Any]]:
    wanted = numpy_dtype(variable.dtype)
    try:
        array = np.asarray(value) if isinstance(value, (np.ndarray, np.void)) else np.asarray(value, wanted)
    except (TypeError, ValueError, OverflowError) as problem:
        raise ArgumentError(
            f"the variable {variable.name!r} cannot hold this: {problem}", hint=f"give {wanted} of {variable.shape}"
        ) from None
    if not variable.shape and array.size == 1:
        array = array.reshape(())
    if array.dtype != wanted or array.shape != variable.shape:
        raise ArgumentError(
            f"the variable {variable.name!r} is {variable.dtype} of shape {variable.shape}, "
            f"got {array.dtype} of shape {array.shape}",
            hint="convert it: numpy.asarray(x, dtype).reshape(shape)",
        )
    return array
