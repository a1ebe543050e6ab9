"""The cotangents of all states of a chain, from its Jacobians and the last cotangent."""

from __future__ import annotations

from typing import Any

from enzyme_driver.errors import CheckFailedError, UsageError
from enzyme_driver.scan import chunked, cost, tree
from enzyme_driver.scan.chain import chain

METHODS = ("auto", "linear", "scan")


def cotangents(
    jacobians: Any,  # noqa: ANN401
    last: Any,  # noqa: ANN401
    *,
    direct: Any = None,  # noqa: ANN401
    method: str = "auto",
    chunks: tuple[int, ...] | None = None,
    check: bool = False,
) -> Any:  # noqa: ANN401
    """Cotangents [steps + 1, batch, size] of all states: g[steps] = last, g[t] = J[t]^T g[t + 1] + direct[t].

    `jacobians` [steps, batch, size, size], NumPy or CuPy, float32 or float64: row i has the derivatives of element i
    of the state after a step. `last` [batch, size]; `direct` [steps, batch, size], none by default, is what a state
    gets from elsewhere than the step behind it. `method`: "linear" goes through the steps one by one, "scan" multiplies
    chunks of Jacobians side by side and goes through the chunks, "auto" takes what the model of `cost` finds faster;
    `chunks` says how long these are on each level. All give the same but for rounding. With `check`, numbers that are
    not finite are looked for: CheckFailedError names the step.

    Where sizes differ, or Jacobians are sparse, `jacobians` is a list with a matrix a step: dense, sparse of SciPy or
    CuPy, or a tuple of matrices for their product. `last` is then a vector, and the result a list of vectors.

    Raises ArgumentError where the arrays do not fit each other, UsageError for another method.
    """
    if isinstance(jacobians, (list, tuple)):
        _check_method(method)
        return tree.cotangents(jacobians, last, method="linear" if method == "linear" else "scan")
    given = chain(jacobians)
    ended = given.state(last, "last")
    straight = None if direct is None else given.state(direct, "direct", given.steps)
    _check_method(method)
    if chunks is None:
        plan = cost.plan(given, straight is not None)
        chunks = () if method == "linear" else plan.scan if method == "scan" else plan.chosen
    if check:
        for name, array in (("Jacobian", given.jacobians), ("direct cotangent", straight)):
            _check_finite(given.library, name, array)
    if not given.steps:
        return ended[None].copy()
    return chunked.scan(given, ended, straight, chunks)


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise UsageError(f"there is no method {method!r}", hint=f"one of {', '.join(METHODS)}")


def _check_finite(xp: Any, name: str, array: Any) -> None:  # noqa: ANN401
    """Raise CheckFailedError, which names the first step and sample with a number that is not finite."""
    if array is None:
        return
    bad = ~xp.isfinite(array.reshape(*array.shape[:2], -1)).all(axis=2)
    if bad.any():
        step, sample = (int(each[0]) for each in xp.nonzero(bad))
        raise CheckFailedError(
            f"the {name} of step {step}, sample {sample}, has numbers that are not finite",
            hint="look at the step there: it divides by zero, overflows, or has no derivative",
        )
