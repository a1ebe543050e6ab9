"""The Jacobian of one array of a launch by another, sparse, out of as few directions as its pattern allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError, CheckFailedError
from enzyme_driver.model import Signature
from enzyme_driver.runtime.transforms.colouring import Coloured, coloured, scipy_sparse

Product = Callable[..., dict[str, Any]]
"""`k.vjp[grid, block]` or `k.jvp[grid, block]`."""

CLOSE = {2: 1e-1, 4: 1e-3, 8: 1e-8}
"""How far the product with a random direction may be off, by the bytes of a number."""


@dataclass(frozen=True)
class Asked:
    """Which Jacobian is wanted, of which launch: `vjp` and, where forward mode was compiled, `jvp` carry directions."""

    signature: Signature
    values: Sequence[object]
    of: str
    wrt: str
    vjp: Product
    jvp: Product | None

    def array(self, name: str) -> Any:  # noqa: ANN401
        if name not in self.signature or not self.signature[name].is_pointer or not self.signature[name].has_shadow:
            arrays = [each.name for each in self.signature.shadowed if each.is_pointer]
            raise ArgumentError(
                f"{self.signature.name} has no array {name!r} with a derivative", hint=f"it has {', '.join(arrays)}"
            )
        return self.values[self.signature.names.index(name)]

    def forward(self, seeds: Any) -> Any:  # noqa: ANN401
        """What [directions, size of wrt] become: [directions, size of of]."""
        if self.jvp is None:
            raise TypeError(self)
        shaped = seeds.reshape(len(seeds), *self.array(self.wrt).shape)
        return self.jvp(*self.values, tangents={self.wrt: shaped}, directions=len(seeds))[self.of].reshape(
            len(seeds), -1
        )

    def back(self, seeds: Any) -> Any:  # noqa: ANN401
        """What [directions, size of of] become: [directions, size of wrt]."""
        shaped = seeds.reshape(len(seeds), *self.array(self.of).shape)
        found = self.vjp(*self.values, cotangents={self.of: shaped}, wrt=self.wrt, directions=len(seeds))
        return found[self.wrt].reshape(len(seeds), -1)


def jacobian(asked: Asked, pattern: Any, *, check: bool) -> Any:  # noqa: ANN401
    """CSR [size of `of`, size of `wrt`], of SciPy on the host and of CuPy on a GPU; see `Kernel.jacobian`."""
    output, given = asked.array(asked.of), asked.array(asked.wrt)
    xp = _library(output)
    known = coloured(pattern, (int(output.size), int(given.size)))
    forward = asked.jvp is not None and known.column_colours <= known.row_colours
    colours, count = (known.columns, known.column_colours) if forward else (known.rows, known.row_colours)
    if count:
        seeds = xp.asarray(colours[None] == np.arange(count)[:, None]).astype(given.dtype if forward else output.dtype)
        carried = asked.forward(seeds) if forward else asked.back(seeds)
        rows, columns = known.row_of_entry, known.indices
        at = (colours[columns], rows) if forward else (colours[rows], columns)
        values = carried[tuple(map(xp.asarray, at))]
    else:
        values = xp.zeros(0, output.dtype)
    made = _csr(xp, values, known)
    if check:
        _check(asked, made, xp, known)
    return made


def _csr(xp: Any, values: Any, known: Coloured) -> Any:  # noqa: ANN401
    if xp is np:
        return scipy_sparse().csr_array((values, known.indices, known.indptr), shape=known.shape)
    from cupyx.scipy.sparse import csr_matrix  # type: ignore[import-not-found, unused-ignore]

    return csr_matrix((values, xp.asarray(known.indices), xp.asarray(known.indptr)), shape=known.shape)


def _check(asked: Asked, made: Any, xp: Any, known: Coloured) -> None:  # noqa: ANN401
    """Compare with the kernel along a random direction, which an entry that the pattern lacks changes."""
    direction = xp.asarray(np.random.default_rng(0).uniform(0.5, 1.5, known.shape[0]).astype(made.dtype))
    wanted, found = asked.back(direction[None])[0], made.T @ direction
    error = abs(wanted - found)
    scale = float(abs(wanted).max()) + float(abs(found).max()) if known.shape[1] else 0.0
    worst = int(error.argmax()) if known.shape[1] else 0
    coarse = min(asked.array(name).dtype.itemsize for name in (asked.of, asked.wrt))
    if known.shape[1] and not float(error[worst]) <= CLOSE[coarse] * scale:
        raise CheckFailedError(
            f"the pattern lacks an entry of column {worst}: {asked.of!r} changes by {asked.wrt!r} there in more places",
            hint="leave the pattern out, or give one that holds every entry that may differ from zero",
        )


def _library(array: Any) -> Any:  # noqa: ANN401
    if isinstance(array, np.ndarray):
        return np
    if type(array).__module__.partition(".")[0] == "cupy":
        import cupy  # type: ignore[import-not-found, unused-ignore]

        return cupy
    raise ArgumentError(f"a sparse Jacobian of a {type(array).__name__}", hint="give NumPy or CuPy arrays")
