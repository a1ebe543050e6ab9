"""Runs a case on a target and measures how far primal and gradient are from the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cuda_kernels.case import Args, Case, Pointers, Value, active_names
from cuda_kernels.derivative import (
    Leaves,
    dot,
    leaves,
    leaves_of,
    promoted,
    pushed_forward,
    random_like,
    reference_state,
)
from cuda_kernels.places import Place, Placed, fetched, placed

Kernel = Any  # what adgen.compile and adgen.load give

_TOLERANCE = {"float32": 3e-5, "float64": 1e-8}


@dataclass(frozen=True)
class Outcome:
    """Errors of one run, each relative to the size of what it was compared with, and the shadows after the gradient."""

    primal_error: float
    gradient_error: float
    shadows: Leaves


@dataclass(frozen=True)
class Problem:
    """Arguments and shadows of a run; equal seeds give equal problems, on every target."""

    args: Args
    shadows: Args
    direction: Leaves


def problem(case: Case, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    args = case.make(rng)
    shadows = {name: shadow_of(args[name], rng) for name in active_names(case, args)}
    for name in shadows:
        if case.activity.get(name) == "fresh":
            shadows[name] = np.zeros_like(args[name])
    return Problem(args, shadows, _defined(random_like(leaves(shadows, shadows), rng), case))


def shadow_of(value: Value, rng: np.random.Generator) -> Value:
    """Random cotangents in the argument's own form; a scalar and a struct get an array of one element."""
    if isinstance(value, Pointers):
        arrays = {name: shadow_of(array, rng) for name, array in value.arrays.items()}
        return Pointers(value.layout, arrays, value.values)
    shadow = np.zeros_like(value) if isinstance(value, np.ndarray) else np.zeros(1, np.asarray(value).dtype)
    for _, leaf in leaves_of(shadow, ""):
        leaf[...] = rng.standard_normal(leaf.shape)
    return shadow


def tolerance(case: Case) -> float:
    """Largest error allowed, by the narrowest float that has a shadow."""
    shadows = problem(case, 0).shadows
    return case.slack * max(_TOLERANCE[array.dtype.name] for array in leaves(shadows, shadows).values())


def run_case(kernel: Kernel, case: Case, place: Place, seed: int) -> Outcome:
    """Primal and gradient of the case on fresh arguments, compared with the reference."""
    given = problem(case, seed)
    args = _place(given.args, place)
    kernel[case.launch](*_handed(args))
    primal_error = difference(_state(args, given, place), reference_state(case, given.args))

    args, shadows = _place(given.args, place), _place(given.shadows, place)
    by_name = dict(zip(shadows, _handed(shadows), strict=True))
    kernel.gradient[case.launch](*_handed(args), shadows=by_name)
    after = _defined(_state(shadows, given, place), case)
    return Outcome(primal_error, gradient_error(case, given, after), after)


def gradient_error(case: Case, given: Problem, after: Leaves) -> float:
    """How far <s, J v> and <J^T s, v> are apart, relative to the size of their terms."""
    before = leaves(given.shadows, given.shadows)
    forward, forward_size = dot(before, pushed_forward(case, given.args, given.direction))
    backward, backward_size = dot(after, given.direction)
    return _finite(abs(forward - backward) / max(forward_size, backward_size))


def vjp_error(kernel: Kernel, case: Case, place: Place, seed: int) -> float:
    """How far the functional form is from the gradient in place, or how far it changed an argument, if that is more."""
    given = problem(case, seed)
    written = {
        parameter.name for parameter in kernel.signature if parameter.writes and not parameter.const
    } & given.shadows.keys()
    args = _place(given.args, place)
    cotangents = _place({name: given.shadows[name] for name in written}, place)
    handed = dict(zip(cotangents, _handed(cotangents), strict=True))
    found = kernel.vjp[case.launch](*_handed(args), cotangents=handed, wrt=tuple(given.shadows))
    untouched = {name: promoted(value) for name, value in given.args.items()}
    changed = difference(_state(args, given, place), leaves(untouched, given.shadows))
    expected = run_case(kernel, case, place, seed).shadows
    host = {name: place.get(array).reshape(given.shadows[name].shape) for name, array in found.items()}
    accumulated = _defined(_wide(leaves(host, host)), case)
    for label, before in leaves(given.shadows, given.shadows).items():
        if label.partition(".")[0] not in written:
            accumulated[label] = accumulated[label].reshape(before.shape) + before
    return max(changed, difference(accumulated, expected))


def difference(found: Leaves, expected: Leaves) -> float:
    """The largest difference of any float, relative to the largest of its array (at least 1e-3)."""
    worst = 0.0
    for label, exact in expected.items():
        apart = np.abs(found[label].reshape(exact.shape) - exact)
        scale = max(1e-3, float(np.max(np.abs(exact), initial=0.0)))
        worst = max(worst, _finite(float(np.max(apart, initial=0.0)) / scale))
    return worst


def _place(args: Args, place: Place) -> dict[str, Placed]:
    return {name: placed(value, place) for name, value in args.items()}


def _handed(args: dict[str, Placed]) -> list[Any]:
    return [item.handed for item in args.values()]


def _state(placed_args: dict[str, Placed], given: Problem, place: Place) -> Leaves:
    """The floats with a shadow, as they are at the place now, in float64."""
    now = {name: promoted(fetched(placed_args[name], place)) for name in given.shadows}
    return leaves(now, now)


def _defined(shadows: Leaves, case: Case) -> Leaves:
    """Zeros for what is discarded, which may hold anything."""
    return {
        label: np.zeros_like(array) if case.activity.get(label.partition(".")[0]) == "discarded" else array
        for label, array in shadows.items()
    }


def _wide(state: Args) -> Leaves:
    return {label: np.asarray(array, np.float64) for label, array in state.items()}


def _finite(error: float) -> float:
    """Not a number counts as infinitely wrong."""
    return error if np.isfinite(error) else float("inf")
