"""The derivative check: the gradient against central differences, one random direction a parameter."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from enzyme_driver.errors import ArgumentError, CheckFailedError
from enzyme_driver.model import DataType, Parameter, Signature, Target, Variable
from enzyme_driver.runtime.backends.kept import no_numbers_kept
from enzyme_driver.runtime.backends.libraries import library_of
from enzyme_driver.runtime.call.arrays import is_array
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.layouts import numpy_dtype
from enzyme_driver.runtime.call.members import assembled, flattened, given
from enzyme_driver.runtime.call.passed import struct_value
from enzyme_driver.runtime.call.slots import argument_slot, written
from enzyme_driver.runtime.transforms.cross_target import apart, check_same_signature, copy_variables, placed

if TYPE_CHECKING:
    from enzyme_driver.runtime.module import Function, Kernel

TOLERANCE: Mapping[int, float] = {8: 1e-6, 4: 2e-3, 2: 5e-2}
"""Largest accepted error by the size in bytes of the narrowest floating-point type that takes part."""

STEPS: Mapping[int, tuple[float, ...]] = {8: (1e-4, 1e-5, 1e-6), 4: (1e-2, 3e-3, 1e-3), 2: (1e-1, 3e-2)}
"""Steps that are tried, relative to the values, by the same size; the one with the best agreement counts."""

_EPSILON: Mapping[int, float] = {8: 2.0**-52, 4: 2.0**-23, 2: 2.0**-7}
"""Relative distance of neighbouring floats, by size; for two bytes bfloat16's, the wider one."""

_MOST_ROUNDINGS = 100
"""How many times the rounding of its results a primal's noise is believed to be; what jumps by more is no noise."""

HostArray = np.ndarray[Any, np.dtype[Any]]
Floats = list[HostArray]
Values = tuple[object, ...]
Outcome = tuple[dict[str, HostArray], float | None]


@dataclass(frozen=True)
class ParameterCheck:
    """The directional derivatives of one parameter, the largest relative difference, and the step that was used.

    `tangent` is forward mode's, where that was compiled. `across` is how far the gradient is from that on another
    target, where it was compared with one.
    """

    name: str
    error: float
    gradient: float
    difference: float
    step: float
    tangent: float | None = None
    across: float | None = None


@dataclass(frozen=True)
class CheckResult:
    """What a check found, the same for the same `seed`."""

    tolerance: float
    seed: int
    parameters: tuple[ParameterCheck, ...]

    @property
    def worst(self) -> ParameterCheck:
        return max(self.parameters, key=lambda parameter: parameter.error)

    @property
    def error(self) -> float:
        return self.worst.error

    @property
    def passed(self) -> bool:
        return self.error <= self.tolerance

    def raised(self, name: str) -> CheckResult:
        """This result; raises CheckFailedError where it is not passed."""
        if self.passed:
            return self
        worst = self.worst
        forward = "" if worst.tangent is None else f", forward mode gives {worst.tangent:.9g}"
        across = "" if worst.across is None else f"; on another target it differs by {worst.across:.2g}"
        raise CheckFailedError(
            f"the gradient of {name} with respect to {worst.name!r} is wrong by {worst.error:.2g} "
            f"(tolerance {self.tolerance:.2g}): along a random direction it is {worst.gradient:.9g}, "
            f"finite differences give {worst.difference:.9g}{forward}{across}",
            hint=self._advice,
        )

    @property
    def _advice(self) -> str:
        gradient, tangent = self.worst.gradient, self.worst.tangent
        if tangent is None:
            second = "; with forward mode compiled (--mode forward, modes=['forward']) a check compares with that, too"
            return (
                f"check that the arguments lie where the code is smooth; if they do, report it with the source{second}"
            )
        if self.worst.across is None and abs(gradient - tangent) <= self.tolerance * max(abs(gradient), abs(tangent)):
            return (
                "forward mode agrees with the gradient: the code is probably not smooth at these arguments, try others"
            )
        return "check that the arguments lie where the code is smooth; if they do, report it with the source"


@dataclass(frozen=True)
class _Case:
    """One kernel or function with its arguments, as the check sees it."""

    signature: Signature
    target: Target
    values: Values
    primal: Callable[[Values], float | None]
    vjp: Callable[[Mapping[str, object]], Mapping[str, object]]
    jvp: Callable[[Mapping[str, object]], Mapping[str, object]] | None = None
    variables: MutableMapping[str, object] = field(default_factory=dict)

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


@dataclass(frozen=True)
class _Line:
    """The line along which one parameter is moved from where it is; `adjoint` is the gradient with respect to it."""

    case: _Case
    parameter: Parameter
    weights: Mapping[str, HostArray]
    start: HostArray
    direction: Floats
    adjoint: Floats

    def at(self, step: float) -> HostArray:
        return _moved(self.start, self.direction, step)


@dataclass(frozen=True)
class _Difference:
    """The derivative along a line, as the gradient says and as differences at one step do.

    `scale` is the size of the gradient's terms, `rounding` what one rounding of every result makes of the difference.
    """

    step: float
    predicted: float
    change: float
    scale: float
    rounding: float

    def judged(self, name: str, noise: float) -> ParameterCheck:
        """`noise` is the deviation of the primal's weighted sum, where that is known."""
        largest = max(abs(self.predicted), abs(self.change), self.scale)
        apart = abs(self.predicted - self.change)
        believed = max(self.rounding, 4 * noise / (math.sqrt(2) * self.step))
        equal = math.isfinite(self.change) and apart <= believed
        error = 0.0 if equal else apart / (largest or math.nan)
        return ParameterCheck(name, math.inf if math.isnan(error) else error, self.predicted, self.change, self.step)


def check_kernel(
    kernel: Kernel,
    values: Values,
    launch: Launch,
    *,
    seed: int = 0,
    tolerance: float | None = None,
    against: Kernel | None = None,
) -> CheckResult:
    """Compare `kernel.vjp` with differences of `kernel` at `values`, which stay as they are, and with `against.vjp`."""
    if against:
        check_same_signature(kernel, against)
        copy_variables(kernel, against)
    other = _kernel_case(against, _elsewhere(values, kernel, against), launch) if against else None
    return _checked(_kernel_case(kernel, values, launch), seed, tolerance, other)


def _elsewhere(values: Values, here: Kernel | Function, there: Kernel | Function) -> Values:
    return tuple(placed(value, here.target, there.target) for value in values)


def _kernel_case(kernel: Kernel, values: Values, launch: Launch) -> _Case:
    values = _with_whole_structs(kernel, values)
    key = (launch.grid, launch.block, launch.stream, launch.shared_bytes)

    def vjp(cotangents: Mapping[str, object]) -> Mapping[str, object]:
        return kernel.vjp[key](*values, cotangents=cotangents)

    def jvp(tangents: Mapping[str, object]) -> Mapping[str, object]:
        return kernel.jvp[key](*values, tangents=tangents)

    forward = jvp if kernel.has_forward else None
    run = kernel[key]
    return _Case(kernel.signature, kernel.target, values, lambda given: run(*given), vjp, forward, kernel.variables)


def _with_whole_structs(entry: Kernel | Function, values: Values) -> Values:
    """Active structs have one derivative as a whole: those that are given as dicts become what NumPy has for them."""
    pairs = zip(entry.signature, values, strict=True)
    return tuple(_whole_struct(entry, p, value) if isinstance(value, Mapping) else value for p, value in pairs)


def _whole_struct(entry: Kernel | Function, parameter: Parameter, value: object) -> object:
    if parameter.form != "struct" or parameter.activity != "active":
        return value
    slot = argument_slot(entry.signature, parameter, entry.target)
    return np.frombuffer(struct_value(value, slot).data, numpy_dtype(parameter.dtype))[0]


def check_function(function: Function, values: Values, *, seed: int = 0, tolerance: float | None = None) -> CheckResult:
    """Compare `function.vjp` with differences of `function` at `values`, which stay as they are."""
    return _checked(function_case(function, values), seed, tolerance)


def function_case(function: Function, values: Values) -> _Case:
    values = _with_whole_structs(function, values)

    def vjp(cotangents: Mapping[str, object]) -> Mapping[str, object]:
        return function.vjp(*values, cotangents=cotangents)

    def jvp(tangents: Mapping[str, object]) -> Mapping[str, object]:
        return function.jvp(*values, tangents=tangents)

    forward = jvp if function.has_forward else None
    return _Case(function.signature, function.target, values, lambda given: function(*given), vjp, forward)


def _checked(case: _Case, seed: int, tolerance: float | None, other: _Case | None = None) -> CheckResult:
    random = np.random.default_rng(seed)
    outputs = [p for p in case.shadowed if written(p)]
    starts = {p.name: _on_host(case, p) for p in case.shadowed}
    outputs += _written_variables(case)
    weights = {p.name: _random_like(starts[p.name], random) for p in outputs}
    inputs = [p for p in case.shadowed if p.reads or not p.is_pointer]
    if not inputs:
        raise ArgumentError(f"{case.signature.name} has no parameter to check", hint=_what_could_be(case.signature))
    if words := next((p for p in (*inputs, *outputs) if not _floats(starts[p.name])), None):
        raise ArgumentError(
            f"{words.name} cannot be checked: it is given as {starts[words.name].dtype}, not as {words.dtype}",
            hint="give an array of the type of its parameter (for bfloat16 that of the package ml_dtypes)",
        )
    gradients = _gradients(case, weights)
    size = _narrowest(case, [*(p for p in inputs if _any(gradients[p.name])), *outputs])
    lines = (_line(case, p, weights, starts[p.name], gradients[p.name], random) for p in inputs)
    checks = [_along(line, size) for line in lines]
    if other:
        elsewhere = _gradients(other, weights)
        checks = [_compared(check, gradients[check.name], elsewhere[check.name]) for check in checks]
    return CheckResult(TOLERANCE[size] if tolerance is None else tolerance, seed, tuple(checks))


def _what_could_be(signature: Signature) -> str:
    """How something of the entry gets a derivative."""
    parts: tuple[Parameter | Variable, ...] = (*signature.parameters, *signature.variables)
    const = [part for part in parts if part.activity == "const" and _has_floats(part.dtype.pointee or part.dtype)]
    if not const:
        return "it reads nothing of floating point"
    words = (f"{part.name}={'duplicated' if _is_memory(part) else 'active'}" for part in const)
    return f"compile it with an activity of what it is to be differentiated by: {', '.join(words)}"


def _has_floats(dtype: DataType) -> bool:
    return dtype.has_floats or any(f.type.pointee and f.type.pointee.has_floats for f in dtype.fields)


def _is_memory(part: Parameter | Variable) -> bool:
    pointer = part.is_pointer if isinstance(part, Parameter) else part.dtype.kind == "pointer"
    return pointer or part.dtype.has_pointers


def _any(gradient: HostArray) -> bool:
    return any(np.any(part) for part in _float_parts(gradient))


def _gradients(case: _Case, weights: Mapping[str, HostArray]) -> dict[str, HostArray]:
    """Of the weighted sum of all that the primal writes and returns, by part."""
    outputs = {p.name: _like(case, p, weights[p.name]) for p in case.shadowed if written(p)}
    variables = {v: placed(weights[v], "openmp", case.target) for v in case.variables if v in weights}
    with _variables_kept(case), no_numbers_kept():
        found = case.vjp(case.whole(outputs) | variables)
    gradients = {name: value for p in case.signature.shadowed for name, value in given(p, found.get(p.name)).items()}
    gradients |= {name: value for name, value in found.items() if name in case.variables}
    return {name: _host_of(value, case.target) for name, value in gradients.items() if value is not None}


def _compared(found: ParameterCheck, gradient: HostArray, other: HostArray) -> ParameterCheck:
    across = apart(_floats(gradient), _floats(other))
    return replace(found, across=across, error=max(found.error, across))


def _line(
    case: _Case,
    parameter: Parameter,
    weights: Mapping[str, HostArray],
    start: HostArray,
    gradient: HostArray,
    random: np.random.Generator,
) -> _Line:
    direction = [_direction(part, random) for part in _floats(start)]
    return _Line(case, parameter, weights, start, direction, _floats(gradient))


def _along(line: _Line, size: int) -> ParameterCheck:
    tried = [_difference(line, step) for step in STEPS[size]]
    found = _best(line, tried, noise=0.0)
    if found.error > TOLERANCE[size]:
        found = _best(line, tried, _noise(line, STEPS[size][-1]))
    return found if line.case.jvp is None else _with_tangent(line, found)


def _best(line: _Line, tried: Sequence[_Difference], noise: float) -> ParameterCheck:
    return min((each.judged(line.parameter.name, noise) for each in tried), key=lambda check: check.error)


def _noise(line: _Line, step: float) -> float:
    """The deviation of the weighted sum that rounding inside the primal makes, from seven values close to each other.

    Third differences leave nothing of what is smooth (Moré and Wild, Estimating computational noise, 2011). At least
    what one rounding of every result adds up to.
    """
    outcomes = [_outcome(line, line.at(step * place)) for place in range(7)]
    changes, roundings = zip(*(_change(line, outcome, outcomes[0]) for outcome in outcomes), strict=True)
    deviation = math.sqrt(float(np.mean(np.diff(changes, 3) ** 2)) / 20)
    rounding = float(max(roundings))
    return max(deviation, rounding) if deviation <= _MOST_ROUNDINGS * rounding else rounding


def _with_tangent(line: _Line, found: ParameterCheck) -> ParameterCheck:
    """The same with what forward mode says: the gradient times a direction is the outcome's tangent along it."""
    products = _products(line.adjoint, line.direction)
    predicted, tangent = float(products.sum()), _tangent(line)
    largest = max(abs(predicted), abs(tangent), float(np.linalg.norm(products)))
    apart = abs(predicted - tangent) / largest if largest else 0.0
    return replace(found, tangent=tangent, error=max(found.error, math.inf if math.isnan(apart) else apart))


def _products(adjoint: Floats, towards: Floats) -> HostArray:
    """Of the gradient with a direction, element by element."""
    return np.concatenate([(_wide(g) * d).ravel() for g, d in zip(adjoint, towards, strict=True)])


def _tangent(line: _Line) -> float:
    """Of the weighted sum of all that the primal writes and returns."""
    along = np.zeros_like(line.start, order="C")
    for part, towards in zip(_floats(along), line.direction, strict=True):
        part[...] = np.asarray(towards).astype(part.dtype)
    return float(pushed_forward(line.case, {line.parameter.name: along}, line.weights).sum())


def pushed_forward(case: _Case, directions: Mapping[str, HostArray], weights: Mapping[str, HostArray]) -> HostArray:
    """The tangents of all that the primal writes and returns, each with its weight, along directions of its parts."""
    tangents, variables = dict[str, object](), dict[str, object]()
    for parameter in case.shadowed:
        along = directions.get(parameter.name)
        if along is None:
            continue
        if parameter.form == "variable":
            variables[parameter.name] = _tangent_array(case, parameter, along)
        elif parameter.is_pointer and is_array(_given(case, parameter)):
            tangents[parameter.name] = _tangent_array(case, parameter, along)
        else:
            tangents[parameter.name] = along[()]
    with _variables_kept(case):
        found = (case.jvp or case.vjp)({**case.whole(tangents), **variables})
    returned = found.get("return")
    terms = [np.array([float(returned) if isinstance(returned, (int, float)) else 0.0])]
    for name, weight in weights.items():
        parts = zip(_floats(weight), _floats(_host_of(found[name], case.target)), strict=True)
        terms += [(_wide(w) * _wide(t)).ravel() for w, t in parts]
    return np.concatenate(terms)


def _tangent_array(case: _Case, parameter: Parameter, along: HostArray) -> object:
    if parameter.form != "variable":
        return _like(case, parameter, along)
    array = next(value for _, value in case.parts.values() if is_array(value))
    return library_of(array, case.target).from_host(along, array)


def _difference(line: _Line, step: float) -> _Difference:
    above, below = line.at(step), line.at(-step)
    moved = [_wide(a) - _wide(b) for a, b in zip(_floats(above), _floats(below), strict=True)]
    products = _products(line.adjoint, moved) / (2 * step)
    outcomes = (_outcome(line, above), _outcome(line, below))
    change, rounding = (part / (2 * step) for part in _change(line, *outcomes))
    return _Difference(step, float(products.sum()), change, float(np.linalg.norm(products)), rounding)


def _apart(above: HostArray, below: HostArray) -> HostArray:
    """Infinities that stay what they are, such as the logarithm of what cannot be, have not changed."""
    return np.subtract(above, below, where=above != below, out=np.zeros_like(above))


def _change(line: _Line, above: Outcome, below: Outcome) -> tuple[float, float]:
    """The weighted sum of all that the primal writes and returns, above minus below, and how exact that can be.

    Both in float64; the second is what one rounding of every result adds up to.
    """
    (first, high), (second, low) = above, below
    terms = [np.array([(high or 0.0) - (low or 0.0)])]
    returns = line.case.signature.returns
    roundings = [np.array([abs(high or 0.0) * _EPSILON.get(returns.size if returns else 0, 0.0)])]
    for name, weight in line.weights.items():
        for w, a, b in zip(_floats(weight), _floats(first[name]), _floats(second[name]), strict=True):
            terms.append((_wide(w) * _apart(_wide(a), _wide(b))).ravel())
            size = np.where(np.isfinite(a), _wide(a), 0.0)
            roundings.append((_wide(w) * size).ravel() * _EPSILON[a.dtype.itemsize])
    return float(np.concatenate(terms).sum()), float(np.linalg.norm(np.concatenate(roundings)))


def _outcome(line: _Line, data: HostArray | None) -> Outcome:
    """What the primal writes, where that has a weight, and what it returns, with this data for the parameter."""
    case, parameter = line.case, line.parameter
    values = {p.name: _fresh(case, p, data if p is parameter else None) for p, _ in case.parts.values()}
    with _variables_kept(case):
        if parameter.form == "variable" and data is not None:
            case.variables[parameter.name] = data
        result = case.primal(tuple(assembled(p, values) for p in case.signature))
        variables = {v: np.array(case.variables[v]) for v in case.variables if v in line.weights}
    arrays = {name: _host_of(values[name], case.target) for name in line.weights if name in values}
    return arrays | variables, result


def _written_variables(case: _Case) -> list[Parameter]:
    """Those with a derivative that the primal changes, also where they hold already what it computes."""
    variables = [p for p in case.shadowed if p.form == "variable" and not p.dtype.has_pointers]
    if not variables:
        return []
    values = {p.name: _fresh(case, p, None) for p, _ in case.parts.values()}
    with _variables_kept(case):
        for p in variables:
            data = np.array(case.variables[p.name])
            for part in _float_parts(data):
                part[...] = part * part.dtype.type(1 + 16 * _EPSILON[part.dtype.itemsize])
            case.variables[p.name] = data
        before = {p.name: np.array(case.variables[p.name]).tobytes() for p in variables}
        case.primal(tuple(assembled(p, values) for p in case.signature))
        return [p for p in variables if np.array(case.variables[p.name]).tobytes() != before[p.name]]


@contextmanager
def _variables_kept(case: _Case) -> Iterator[None]:
    """Variables hold afterwards what they held before: a primal may count in them which part of its work is done."""
    kept = [v.name for v in case.signature.variables if v.has_shadow or not v.dtype.has_pointers]
    before = {name: np.array(case.variables[name]) for name in kept}
    try:
        yield
    finally:
        for name, value in before.items():
            case.variables[name] = value


def _fresh(case: _Case, parameter: Parameter, data: HostArray | None) -> object:
    """The argument itself, a copy of it where the primal writes, or new data in its place."""
    value = _given(case, parameter)
    if data is not None:
        return _like(case, parameter, data) if parameter.is_pointer and is_array(value) else data[()]
    return library_of(value, case.target).copy(value) if written(parameter) and value is not None else value


def _like(case: _Case, parameter: Parameter, data: HostArray) -> object:
    value = _given(case, parameter)
    return library_of(value, case.target).from_host(data, value)


def _given(case: _Case, parameter: Parameter) -> object:
    return case.parts[parameter.name][1]


def _on_host(case: _Case, parameter: Parameter) -> HostArray:
    if parameter.form == "variable":
        return np.array(case.variables[parameter.name])
    value = _given(case, parameter)
    if parameter.is_pointer and is_array(value):
        return _host_of(value, case.target)
    data: HostArray = np.zeros((), numpy_dtype(parameter.dtype))
    data[()] = np.frombuffer(bytes(value), data.dtype)[0] if parameter.form == "struct" else value  # type: ignore[call-overload]
    return data


def _host_of(value: object, target: Target) -> HostArray:
    return library_of(value, target).to_host(value)


def _floats(array: HostArray) -> Floats:
    """Views of all floating-point numbers in an array, of structs too."""
    return list(_float_parts(array))


def _float_parts(array: HostArray) -> Iterator[HostArray]:
    if array.dtype.names is not None:
        for name in array.dtype.names:
            yield from _float_parts(array[name])
    elif array.dtype.kind == "c":
        yield from (array.real, array.imag)
    elif array.dtype.kind == "f" or array.dtype.name == "bfloat16":
        yield array


def _wide(array: HostArray) -> HostArray:
    return array.astype(np.float64)


def _direction(values: HostArray, random: np.random.Generator) -> HostArray:
    """Random, of either sign, and in proportion to each value, so that small and positive ones stay so."""
    size = np.abs(_wide(values))
    typical = float(np.sqrt(np.mean(size**2))) if size.size else 0.0
    size = np.where(size == 0, typical or 1.0, size)
    direction: HostArray = size * random.uniform(0.5, 1.0, size.shape) * random.choice([-1.0, 1.0], size.shape)
    return direction


def _moved(start: HostArray, direction: Floats, step: float) -> HostArray:
    moved = start.copy()
    for part, towards in zip(_floats(moved), direction, strict=True):
        part[...] = np.asarray(_wide(part) + step * towards).astype(part.dtype)
    return moved


def _random_like(array: HostArray, random: np.random.Generator) -> HostArray:
    weights = np.zeros_like(array, order="C")
    for part in _floats(weights):
        part[...] = np.asarray(random.uniform(-1.0, 1.0, part.shape)).astype(part.dtype)
    return weights


def _narrowest(case: _Case, parameters: Sequence[Parameter]) -> int:
    kinds = [leaf for parameter in parameters for leaf in parameter.dtype.leaves()]
    kinds += [case.signature.returns] if case.signature.returns else []
    return min((kind.size for kind in kinds if kind.kind == "float"), default=8)
