"""One kernel or function with its arguments, as a check of its derivatives sees it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from enzyme_driver.model import Parameter, Signature, Target
from enzyme_driver.runtime.backends.kept import no_numbers_kept
from enzyme_driver.runtime.backends.libraries import library_of
from enzyme_driver.runtime.call.arrays import is_array
from enzyme_driver.runtime.call.arrivals import any_order
from enzyme_driver.runtime.call.conversion import struct_value
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.layouts import numpy_dtype
from enzyme_driver.runtime.call.members import assembled, flattened, given
from enzyme_driver.runtime.call.slots import argument_slot, written
from enzyme_driver.runtime.transforms.cross_target import placed

if TYPE_CHECKING:
    from enzyme_driver.runtime.function import Function
    from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.transforms.check_numbers import EPSILON, HostArray, float_parts, floats_of, widened
from enzyme_driver.runtime.transforms.vjp import Vjp

Values = tuple[object, ...]


@dataclass(frozen=True)
class Case:
    """One kernel or function with its arguments, as the check sees it."""

    signature: Signature
    target: Target
    values: Values
    primal: Callable[[Values], float | None]
    vjp: Callable[[Mapping[str, object]], Mapping[str, object]]
    jvp: Callable[[Mapping[str, object]], Mapping[str, object]] | None = None
    variables: MutableMapping[str, object] = field(default_factory=dict)
    gradient: Callable[[Values, Mapping[str, object]], None] | None = None
    """The gradient in place, with arguments of its own and fresh shadows but for the cotangents that are given."""

    @cached_property
    def parts(self) -> dict[str, tuple[Parameter, object]]:
        """What is checked on its own: each argument, and each member of a struct that is given as a dict."""
        pairs = zip(self.signature, self.values, strict=True)
        return {part.name: (part, value) for p, given in pairs for part, value in flattened(p, given)}

    @property
    def shadowed(self) -> list[Parameter]:
        """The parts with a derivative, then the variables, as parameters that are read only."""
        variables = [
            Parameter(v.name, "variable", v.dtype, const=True, activity=v.activity, writes=False)
            for v in self.signature.variables
            if v.has_shadow
        ]
        return [part for part, value in self.parts.values() if part.has_shadow and value is not None] + variables

    def whole(self, parts: Mapping[str, object]) -> dict[str, object]:
        """What is by part, by parameter."""
        made = {p.name: assembled(p, parts) for p in self.signature}
        return {name: value for name, value in made.items() if name in parts or value}


def kernel_case(kernel: Kernel, values: Values, launch: Launch) -> Case:
    values = _with_whole_structs(kernel, values)
    key = launch.key

    def vjp(cotangents: Mapping[str, object]) -> Mapping[str, object]:
        with any_order():
            return kernel.vjp[key](*values, cotangents=cotangents)

    def gradient(given: Values, cotangents: Mapping[str, object]) -> None:
        with any_order():
            kernel.gradient[key](*given, shadows=_shadows(kernel, given, cotangents))

    def jvp(tangents: Mapping[str, object]) -> Mapping[str, object]:
        with any_order():
            return kernel.jvp[key](*values, tangents=tangents)

    forward = jvp if kernel.has_forward else None
    run = kernel[key]
    return Case(
        kernel.signature, kernel.target, values, lambda given: run(*given), vjp, forward, kernel.variables, gradient
    )


def _shadows(entry: Kernel | Function, values: Values, cotangents: Mapping[str, object]) -> Mapping[str, object]:
    return Vjp(entry._arguments, values, cotangents, None).shadows_by_name(None)  # noqa: SLF001  (of the same package)


def _with_whole_structs(entry: Kernel | Function, values: Values) -> Values:
    """Active structs have one derivative as a whole: those that are given as dicts, or as complex numbers, become what
    NumPy has for them.
    """
    pairs = zip(entry.signature, values, strict=True)
    others = (Mapping, complex, np.complexfloating)
    return tuple(_whole_struct(entry, p, value) if isinstance(value, others) else value for p, value in pairs)


def _whole_struct(entry: Kernel | Function, parameter: Parameter, value: object) -> object:
    if parameter.form != "struct" or parameter.activity != "active":
        return value
    slot = argument_slot(entry.signature, parameter, entry.target)
    return np.frombuffer(struct_value(value, slot).data, numpy_dtype(parameter.dtype))[0]


def function_case(function: Function, values: Values) -> Case:
    values = _with_whole_structs(function, values)

    def vjp(cotangents: Mapping[str, object]) -> Mapping[str, object]:
        return function.vjp(*values, cotangents=cotangents)

    def gradient(given: Values, cotangents: Mapping[str, object]) -> None:
        function.gradient(*given, shadows=_shadows(function, given, cotangents))

    def jvp(tangents: Mapping[str, object]) -> Mapping[str, object]:
        return function.jvp(*values, tangents=tangents)

    forward = jvp if function.has_forward else None
    return Case(
        function.signature, function.target, values, partial(_number, function), vjp, forward, gradient=gradient
    )


def _number(function: Function, values: Values) -> float | None:
    """What it returns; a struct is memory that it writes."""
    found = function(*values)
    return None if function.signature.result else found


def gradients_of(case: Case, weights: Mapping[str, HostArray]) -> dict[str, HostArray]:
    """Of the weighted sum of all that the primal writes and returns, by part."""
    with variables_kept(case), no_numbers_kept():
        found = case.vjp(cotangents_of(case, weights))
    gradients = {name: value for p in case.signature.shadowed for name, value in given(p, found.get(p.name)).items()}
    gradients |= {name: value for name, value in found.items() if name in case.variables}
    return {name: host_of(value, case.target) for name, value in gradients.items() if value is not None}


def cotangents_of(case: Case, weights: Mapping[str, HostArray]) -> dict[str, object]:
    """The weights where the case's arrays are, by parameter and variable."""
    outputs = {p.name: made_like(case, p, weights[p.name]) for p in case.shadowed if written(p)}
    variables = {v: placed(weights[v], "openmp", case.target) for v in case.variables if v in weights}
    return case.whole(outputs) | variables


def pushed_forward(case: Case, directions: Mapping[str, HostArray], weights: Mapping[str, HostArray]) -> HostArray:
    """The tangents of all that the primal writes and returns, each with its weight, along directions of its parts."""
    tangents, variables = dict[str, object](), dict[str, object]()
    for parameter in case.shadowed:
        along = directions.get(parameter.name)
        if along is None:
            continue
        if parameter.form == "variable":
            variables[parameter.name] = _tangent_array(case, parameter, along)
        elif parameter.is_pointer and is_array(given_of(case, parameter)):
            tangents[parameter.name] = _tangent_array(case, parameter, along)
        else:
            tangents[parameter.name] = along[()]
    with variables_kept(case):
        found = (case.jvp or case.vjp)({**case.whole(tangents), **variables})
    returned = found.get("return")
    terms = [np.array([float(returned) if isinstance(returned, (int, float)) else 0.0])]
    for name, weight in weights.items():
        parts = zip(floats_of(weight), floats_of(host_of(found[name], case.target)), strict=True)
        terms += [(widened(w) * widened(t)).ravel() for w, t in parts]
    return np.concatenate(terms)


def _tangent_array(case: Case, parameter: Parameter, along: HostArray) -> object:
    if parameter.form != "variable":
        return made_like(case, parameter, along)
    array = next(value for _, value in case.parts.values() if is_array(value))
    return library_of(array, case.target).from_host(along, array)


def written_variables(case: Case) -> list[Parameter]:
    """Those with a derivative that the primal changes, also where they hold already what it computes."""
    variables = [p for p in case.shadowed if p.form == "variable" and not p.dtype.has_pointers]
    if not variables:
        return []
    values = {p.name: fresh_copy(case, p, None) for p, _ in case.parts.values()}
    with variables_kept(case):
        for p in variables:
            data = np.array(case.variables[p.name])
            for part in float_parts(data):
                part[...] = part * part.dtype.type(1 + 16 * EPSILON[part.dtype.itemsize])
            case.variables[p.name] = data
        before = {p.name: np.array(case.variables[p.name]).tobytes() for p in variables}
        case.primal(tuple(assembled(p, values) for p in case.signature))
        return [p for p in variables if np.array(case.variables[p.name]).tobytes() != before[p.name]]


@contextmanager
def variables_kept(case: Case) -> Iterator[None]:
    """Variables hold afterwards what they held before: a primal may count in them which part of its work is done."""
    kept = [v.name for v in case.signature.variables if v.has_shadow or not v.dtype.has_pointers]
    before = {name: np.array(case.variables[name]) for name in kept}
    try:
        yield
    finally:
        for name, value in before.items():
            case.variables[name] = value


def fresh_copy(case: Case, parameter: Parameter, data: HostArray | None) -> object:
    """The argument itself, a copy of it where the primal writes, or new data in its place."""
    value = given_of(case, parameter)
    if data is not None:
        return made_like(case, parameter, data) if parameter.is_pointer and is_array(value) else data[()]
    return library_of(value, case.target).copy(value) if written(parameter) and value is not None else value


def ran(
    case: Case,
    call: Callable[[Values], float | None],
    parameter: Parameter | None = None,
    data: HostArray | None = None,
    asked: Collection[str] = (),
) -> tuple[dict[str, object], dict[str, HostArray], float | None]:
    """What a call on fresh copies leaves: them by the names of parts, the variables that are `asked` for, and what it
    returns. With this data for the parameter.
    """
    values = {p.name: fresh_copy(case, p, data if p is parameter else None) for p, _ in case.parts.values()}
    with variables_kept(case):
        if parameter is not None and parameter.form == "variable" and data is not None:
            case.variables[parameter.name] = data
        returned = call(tuple(assembled(p, values) for p in case.signature))
        variables = {name: np.array(case.variables[name]) for name in case.variables if name in asked}
    return values, variables, returned


def made_like(case: Case, parameter: Parameter, data: HostArray) -> object:
    value = given_of(case, parameter)
    return library_of(value, case.target).from_host(data, value)


def given_of(case: Case, parameter: Parameter) -> object:
    return case.parts[parameter.name][1]


def on_host(case: Case, parameter: Parameter) -> HostArray:
    if parameter.form == "variable":
        return np.array(case.variables[parameter.name])
    value = given_of(case, parameter)
    if parameter.is_pointer and is_array(value):
        return host_of(value, case.target)
    data: HostArray = np.zeros((), numpy_dtype(parameter.dtype))
    data[()] = np.frombuffer(bytes(value), data.dtype)[0] if parameter.form == "struct" else value  # type: ignore[call-overload]
    return data


def host_of(value: object, target: Target) -> HostArray:
    return library_of(value, target).to_host(value)


def narrowest_of(case: Case, parameters: Sequence[Parameter]) -> int:
    kinds = [leaf for parameter in parameters for leaf in parameter.dtype.leaves()]
    kinds += [case.signature.returns] if case.signature.returns else []
    return min((kind.size for kind in kinds if kind.kind == "float"), default=8)
