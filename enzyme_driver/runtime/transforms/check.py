"""The derivative check: the gradient against central differences, one random direction a parameter."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from enzyme_driver.errors import ArgumentError, CheckFailedError, CompilerCrashError, RefusedError
from enzyme_driver.model import DataType, Parameter, Signature, Variable
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.slots import written
from enzyme_driver.runtime.transforms.cross_target import apart, check_same_signature, copy_variables, placed

if TYPE_CHECKING:
    from enzyme_driver.runtime.function import Function
    from enzyme_driver.runtime.kernel import Kernel
    from enzyme_driver.runtime.transforms.verdict import Verdict
from enzyme_driver.runtime.transforms.check_case import (
    Case,
    Values,
    function_case,
    gradients_of,
    kernel_case,
    narrowest_of,
    on_host,
    written_variables,
)
from enzyme_driver.runtime.transforms.check_difference import (
    TOLERANCE,
    ParameterCheck,
    along_line,
    line_of,
    without_infinite,
)
from enzyme_driver.runtime.transforms.check_numbers import HostArray, all_finite, float_parts, floats_of, random_like


@dataclass(frozen=True)
class CheckResult:
    """What a check found, the same for the same `seed`; `dual_numbers` is what these say, where they were asked."""

    tolerance: float
    seed: int
    parameters: tuple[ParameterCheck, ...]
    dual_numbers: Verdict | None = None

    def __str__(self) -> str:
        """A line a parameter."""
        said = "the gradient is right" if self.passed else "the gradient differs"
        width = max(len(each.name) for each in self.parameters)
        rows = [
            f"  {each.name:{width}}  gradient {each.gradient:< 16.9g} difference {each.difference:< 16.9g} "
            f"error {each.error:.1e}"
            for each in self.parameters
        ]
        return "\n".join([f"{said} (largest error {self.error:.1e}, tolerance {self.tolerance:.1e})", *rows])

    @property
    def worst(self) -> ParameterCheck:
        return max(self.parameters, key=lambda parameter: parameter.error)

    @property
    def error(self) -> float:
        return self.worst.error

    @property
    def agrees(self) -> bool:
        """Whether differences agree with the gradient, and forward mode and another target, where these were tried."""
        return self.error <= self.tolerance

    @property
    def is_settled(self) -> bool:
        """Whether differences alone decide that the gradient is right."""
        return self.agrees and all(parameter.tells for parameter in self.parameters)

    @property
    def passed(self) -> bool:
        """Dual numbers know better than differences, where they know: they take no step over a kink."""
        verdict = self.dual_numbers
        if verdict is None or verdict.state == "unchecked":
            return self.agrees
        return verdict.state == "right" and all(found.apart <= self.tolerance for found in self.parameters)

    def raised(self, subject: Kernel | Function, bisect: str = "adgen bisect") -> CheckResult:
        """This result; raises GradientMismatchError, DataRaceError or CheckFailedError where it is not passed."""
        from enzyme_driver.runtime.transforms.guard import mismatch, raced
        from enzyme_driver.runtime.transforms.verdict import UNSTEADY

        if self.passed:
            return self
        if (verdict := self.dual_numbers) and verdict.race:
            raise raced(subject, verdict, verdict.race)
        if verdict and verdict.state == "wrong":
            raise mismatch(subject, verdict, bisect)
        if verdict and verdict.reason == UNSTEADY:
            raise CheckFailedError(
                f"nothing says whether the gradient of {subject.name} is right: {UNSTEADY}",
                hint="let its random numbers come from an argument, such as an array or a seed, and no call change "
                "what the next one finds",
            )
        worst = self.worst
        if not math.isfinite(worst.difference):
            raise CheckFailedError(
                f"{subject.name} does not compute finite numbers at these arguments: along a random direction of "
                f"{worst.name!r} the gradient is {worst.gradient:.9g}, finite differences give {worst.difference:.9g}",
                hint="give others, also for the __constant__ and __device__ variables that it reads: they hold "
                "what the file says, mostly zeros, until they are set",
            )
        forward = "" if worst.tangent is None else f", forward mode gives {worst.tangent:.9g}"
        across = "" if worst.across is None else f"; on another target it differs by {worst.across:.2g}"
        raise CheckFailedError(
            f"the gradient of {subject.name} with respect to {worst.name!r} is wrong by {worst.error:.2g} "
            f"(tolerance {self.tolerance:.2g}): along a random direction it is {worst.gradient:.9g}, "
            f"finite differences give {worst.difference:.9g}{forward}{across}",
            hint=self._advice,
        )

    @property
    def _advice(self) -> str:
        gradient, tangent = self.worst.gradient, self.worst.tangent
        if tangent is None:
            second = (
                "; with the source (adgen.compile) dual numbers decide, forward mode (modes=['forward']) is compared"
            )
            return (
                f"check that the arguments lie where the code is smooth; if they do, report it with the source{second}"
            )
        if self.worst.across is None and abs(gradient - tangent) <= self.tolerance * max(abs(gradient), abs(tangent)):
            return (
                "forward mode agrees with the gradient: the code is probably not smooth at these arguments, try others"
            )
        return "check that the arguments lie where the code is smooth; if they do, report it with the source"


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
    other = kernel_case(against, _elsewhere(values, kernel, against), launch) if against else None
    return _checked(kernel_case(kernel, values, launch), seed, tolerance, other)


def with_dual_numbers(
    found: CheckResult, subject: Kernel | Function, values: Values, launch: Launch | None
) -> CheckResult:
    """The same with what dual numbers say; unchanged where there is no source to compile them from."""
    from enzyme_driver.runtime.transforms.verdict import Verdict
    from enzyme_driver.runtime.transforms.verify import verify

    if subject.witness is None:
        return found
    try:
        witness = subject.witness()
    except (RefusedError, CompilerCrashError) as problem:
        return replace(found, dual_numbers=Verdict("unchecked", problem.reason))
    return replace(found, dual_numbers=verify(subject, witness, values, launch, found.seed))


def _elsewhere(values: Values, here: Kernel | Function, there: Kernel | Function) -> Values:
    return tuple(placed(value, here.target, there.target) for value in values)


def check_function(function: Function, values: Values, *, seed: int = 0, tolerance: float | None = None) -> CheckResult:
    """Compare `function.vjp` with differences of `function` at `values`, which stay as they are."""
    return _checked(function_case(function, values), seed, tolerance)


def _checked(case: Case, seed: int, tolerance: float | None, other: Case | None = None) -> CheckResult:
    random = np.random.default_rng(seed)
    outputs = [p for p in case.shadowed if written(p)]
    starts = {p.name: on_host(case, p) for p in case.shadowed}
    outputs += written_variables(case)
    weights = {p.name: random_like(starts[p.name], random, uniform=bool(p.unordered)) for p in outputs}
    inputs = [p for p in case.shadowed if p.reads or not p.is_pointer]
    if not inputs:
        raise ArgumentError(f"{case.signature.name} has no parameter to check", hint=_what_could_be(case.signature))
    if words := next((p for p in (*inputs, *outputs) if not floats_of(starts[p.name])), None):
        raise ArgumentError(
            f"{words.name} cannot be checked: it is given as {starts[words.name].dtype}, not as {words.dtype}",
            hint="give an array of the type of its parameter (for bfloat16 that of the package ml_dtypes)",
        )
    gradients = gradients_of(case, weights)
    if not all(all_finite(gradient) for gradient in gradients.values()):
        weights = without_infinite(case, weights)
        gradients = gradients_of(case, weights)
    size = narrowest_of(case, [*(p for p in inputs if _any(gradients[p.name])), *outputs])
    lines = (line_of(case, p, weights, starts[p.name], gradients[p.name], random) for p in inputs)
    checks = [along_line(line, size) for line in lines]
    if other:
        elsewhere = gradients_of(other, weights)
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
    return any(np.any(part) for part in float_parts(gradient))


def _compared(found: ParameterCheck, gradient: HostArray, other: HostArray) -> ParameterCheck:
    across = apart(floats_of(gradient), floats_of(other))
    return replace(found, across=across, error=max(found.error, across), apart=max(found.apart, across))
