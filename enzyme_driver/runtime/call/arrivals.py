"""Arrays that threads fill in the order of their arrival, such as `y[atomicAdd(count, 1)] = x[i]`.

Another launch leaves other numbers in an element: a gradient, which runs the primal again, and a cotangent that was
made from an earlier launch's results belong to different threads. What would bring the two together is refused, unless
both launches have one order, or the cotangent is the same for all elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod

import numpy as np

from enzyme_driver.errors import Location, RefusedError
from enzyme_driver.model import Parameter, Signature, Target
from enzyme_driver.runtime.backends.libraries import library_of
from enzyme_driver.runtime.call.arrays import is_array
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.members import given

_WAY_OUT = (
    "compute the place from the thread's number, such as by a scan, or pass the places as an array of indices that "
    "a kernel before it has made"
)

_any_order: ContextVar[bool] = ContextVar("any_order", default=False)


@contextmanager
def any_order() -> Iterator[None]:
    """Inside, nothing is refused: what weighs all elements of such an array alike depends on no order."""
    token = _any_order.set(True)
    try:
        yield
    finally:
        _any_order.reset(token)


def have_one_order(launch: Launch | None, target: Target, threads: int | None) -> bool:
    """Whether threads arrive in one order in all such launches; `threads` are OpenMP's, None where not known."""
    if launch is None or _any_order.get():
        return True
    blocks = prod(launch.grid)
    return blocks * prod(launch.block) == 1 if target == "cuda" else blocks == 1 or threads == 1


def refused(signature: Signature, what: str, hint: str = _WAY_OUT) -> RefusedError:
    """Why `what` is not possible where a parameter is filled in the order of arrival."""
    parameter = signature.unordered[0]
    place = parameter.unordered
    return RefusedError(
        f"{signature.name} stores to elements of {parameter.name!r} in the order in which threads arrive, which is "
        f"another one in each launch: {what}",
        hint=hint,
        location=Location(place.file, place.line) if place else None,
    )


def check_cotangents(signature: Signature, cotangents: Iterable[tuple[str, object]], target: Target) -> None:
    """Raise RefusedError for a cotangent of such an array that says more of one element than of another."""
    for name, cotangent in cotangents:
        parameter = next((each for each in signature.unordered if _is_part(name, each)), None)
        if parameter and not all(_is_uniform(each, target) for each in _arrays(parameter, cotangent)):
            raise refused(
                signature,
                f"the cotangent of {name!r} was made from another launch's results, in which elements belong to "
                "other threads",
                f"{_WAY_OUT}; on the host, adgen.threads(1) has one order; a cotangent that is the same for all "
                "elements is taken",
            )


def _is_part(name: str, parameter: Parameter) -> bool:
    """Whether it names the parameter, or a member or row of it."""
    return name == parameter.name or name.startswith((f"{parameter.name}.", f"{parameter.name}["))


def _arrays(parameter: Parameter, cotangent: object) -> list[object]:
    return [cotangent] if is_array(cotangent) else list(given(parameter, cotangent).values())


def _is_uniform(cotangent: object, target: Target) -> bool:
    if not is_array(cotangent):
        return cotangent is None
    flat = np.ascontiguousarray(library_of(cotangent, target).to_host(cotangent)).ravel()
    return bool(np.all(flat == flat[:1]))
