"""The Hessian of a launch by one array, sparse, out of as few products as its pattern allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from enzyme_driver.model import Signature
from enzyme_driver.runtime.transforms.jacobian import LARGEST, csr, library_of
from enzyme_driver.runtime.transforms.numbers import Numbers
from enzyme_driver.runtime.transforms.sparsity import asked_arrays
from enzyme_driver.runtime.transforms.star_colouring import star


@dataclass(frozen=True)
class AskedHessian:
    """Which Hessian is wanted, of which launch, `hvp` of which carries tangents; `cotangents` weigh what is written."""

    signature: Signature
    values: Sequence[object]
    of: str
    wrt: str
    cotangents: Mapping[str, object] | None
    hvp: Callable[..., dict[str, Any]]


def hessian(asked: AskedHessian, pattern: Any) -> Any:  # noqa: ANN401
    """CSR [numbers of `wrt`, numbers of `wrt`]; see `Kernel.hessian`."""
    (_, output), (parameter, array) = asked_arrays(asked.signature, asked.values, asked.of, asked.wrt)
    xp, given = library_of(array), Numbers(parameter, array)
    known = star(pattern, given.count)
    cotangents = asked.cotangents or {asked.of: xp.ones_like(output)}
    colours, count = known.colours, known.colour_count
    at_once = max(1, LARGEST // max(1, given.count * given.dtype.itemsize))
    found = [
        _products(
            asked,
            given,
            xp.asarray(colours[None] == np.arange(first, min(first + at_once, count))[:, None]),
            cotangents,
        )
        for first in range(0, count, at_once)
    ]
    products = xp.concatenate(found) if found else xp.zeros((0, given.count), given.dtype)
    colour, row = (xp.asarray(each) for each in known.places)
    return csr(xp, products[colour, row], known.pattern)


def _products(asked: AskedHessian, given: Numbers, seeds: Any, cotangents: Mapping[str, object]) -> Any:  # noqa: ANN401
    tangents = {asked.wrt: given.spread(seeds.astype(given.dtype))}
    carried = asked.hvp(*asked.values, tangents=tangents, cotangents=cotangents, wrt=asked.wrt, directions=len(seeds))
    return given.gathered(carried[asked.wrt])
