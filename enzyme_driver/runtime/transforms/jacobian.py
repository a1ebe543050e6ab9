"""The Jacobian of one array of a launch by another, sparse, out of as few directions as its pattern allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError, CheckFailedError
from enzyme_driver.model import Signature
from enzyme_driver.runtime.transforms.colouring import Coloured, coloured, scipy_sparse
from enzyme_driver.runtime.transforms.directions import Together, carried_together
from enzyme_driver.runtime.transforms.numbers import Numbers
from enzyme_driver.runtime.transforms.sparsity import Array, asked_arrays

Product = Callable[..., dict[str, Any]]
"""`k.vjp[grid, block]` or `k.jvp[grid, block]`."""

LARGEST = 2**28
"""Bytes of the directions that are carried at once, of each array."""

CLOSE = {2: 1e-1, 4: 1e-3, 8: 1e-8}
"""How far the product with a random direction may be off, by the bytes of a number."""


@dataclass(frozen=True)
class Asked:
    """Which Jacobian is wanted, of which launch: `vjp` and, where forward mode was compiled, `jvp` carry directions.

    `tangents` and `gradients` do all of them by one launch, where there is a kernel for that.
    """

    signature: Signature
    values: Sequence[object]
    of: str
    wrt: str
    vjp: Product
    jvp: Product | None
    tangents: Together | None = None
    gradients: Together | None = None

    @cached_property
    def output(self) -> Numbers:
        return Numbers(*self._arrays[0])

    @cached_property
    def given(self) -> Numbers:
        return Numbers(*self._arrays[1])

    @cached_property
    def library(self) -> Any:  # noqa: ANN401
        """NumPy or CuPy."""
        return library_of(self._arrays[0][1])

    def forward(self, seeds: Any) -> Any:  # noqa: ANN401
        """What [directions, numbers of wrt] become: [directions, numbers of of]."""
        if self.jvp is None:
            raise TypeError(self)
        if self.tangents:
            return self._together(self.signature.forward, self.wrt, self.given.spread(seeds), self.tangents)
        found = self.jvp(*self.values, tangents={self.wrt: self.given.spread(seeds)}, directions=len(seeds))
        return self.output.gathered(found[self.of])

    def back(self, seeds: Any) -> Any:  # noqa: ANN401
        """What [directions, numbers of of] become: [directions, numbers of wrt]."""
        if self.gradients:
            return self._together(self.signature, self.of, self.output.spread(seeds), self.gradients)
        cotangents = {self.of: self.output.spread(seeds)}
        found = self.vjp(*self.values, cotangents=cotangents, wrt=self.wrt, directions=len(seeds))
        return self.given.gathered(found[self.wrt])

    def _together(self, signature: Signature, name: str, seeds: Any, run: Together) -> Any:  # noqa: ANN401
        found = carried_together(self.library, signature, self.values, {name: seeds}, run)
        return self.output.gathered(found[self.of]) if run is self.tangents else self.given.gathered(found[self.wrt])

    @cached_property
    def _arrays(self) -> tuple[Array, Array]:
        return asked_arrays(self.signature, self.values, self.of, self.wrt)


def jacobian(asked: Asked, pattern: Any, *, check: bool) -> Any:  # noqa: ANN401
    """CSR [numbers of `of`, numbers of `wrt`], of SciPy on the host and of CuPy on a GPU; see `Kernel.jacobian`."""
    xp = asked.library
    known = coloured(pattern, (asked.output.count, asked.given.count))
    parts = known.both_ways if asked.jvp is not None else None
    if parts is None:
        values = _values(asked, known, forward=asked.jvp is not None and known.prefers_columns)
    else:
        found = [(_values(asked, part, forward=forward), entries) for forward, part, entries in parts]
        values = xp.zeros(len(known.indices), xp.result_type(*[each for each, _ in found]))
        for each, entries in found:
            values[xp.asarray(entries)] = each
    made = csr(xp, values, known)
    if check:
        _check(asked, made, xp, known)
    return made


def _values(asked: Asked, known: Coloured, *, forward: bool) -> Any:  # noqa: ANN401
    """Those of the pattern's entries, in order."""
    xp, output, given = asked.library, asked.output, asked.given
    carry, dtype = (asked.forward, given.dtype) if forward else (asked.back, output.dtype)
    size = max(known.shape) * max(given.dtype.itemsize, output.dtype.itemsize)
    values = None
    for part in known.directions(xp, forward=forward, at_once=max(1, LARGEST // max(1, size))):
        found = carry(part.seeds.astype(dtype)).reshape(-1)[part.places]
        if part.entries is None:
            values = found
        else:
            values = xp.zeros(len(known.indices), found.dtype) if values is None else values
            values[part.entries] = found
    return xp.zeros(0, output.dtype) if values is None else values


def csr(xp: Any, values: Any, known: Coloured) -> Any:  # noqa: ANN401
    """The matrix of the library that has these values at the pattern's entries."""
    if xp is np:
        return scipy_sparse().csr_array((values, known.indices, known.indptr), shape=known.shape)
    from cupyx.scipy.sparse import csr_matrix  # type: ignore[import-not-found, unused-ignore]

    made = csr_matrix(known.shape, dtype=values.dtype)
    made.data, (made.indices, made.indptr) = values, known.structure(xp)  # given at once, it looks at them on the host
    return made


def _check(asked: Asked, made: Any, xp: Any, known: Coloured) -> None:  # noqa: ANN401
    """Compare with the kernel along a random direction, which an entry that the pattern lacks changes."""
    direction = xp.asarray(np.random.default_rng(0).uniform(0.5, 1.5, known.shape[0]).astype(made.dtype))
    wanted, found = asked.back(direction[None])[0], made.T @ direction
    error = abs(wanted - found)
    scale = float(abs(wanted).max()) + float(abs(found).max()) if known.shape[1] else 0.0
    worst = int(error.argmax()) if known.shape[1] else 0
    coarse = min(asked.output.dtype.itemsize, asked.given.dtype.itemsize)
    if known.shape[1] and not float(error[worst]) <= CLOSE[coarse] * scale:
        raise CheckFailedError(
            f"the pattern lacks an entry of column {worst}: {asked.of!r} changes by {asked.wrt!r} there in more places",
            hint="leave the pattern out, or give one that holds every entry that may differ from zero",
        )


def library_of(array: Any) -> Any:  # noqa: ANN401
    """NumPy or CuPy, whose array it is. Raises ArgumentError for others."""
    if isinstance(array, np.ndarray):
        return np
    if type(array).__module__.partition(".")[0] == "cupy":
        import cupy  # type: ignore[import-not-found, unused-ignore]

        return cupy
    raise ArgumentError(f"a sparse Jacobian of a {type(array).__name__}", hint="give NumPy or CuPy arrays")
