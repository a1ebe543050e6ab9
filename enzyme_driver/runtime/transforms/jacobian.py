"""The Jacobian of one array of a launch by another, sparse, out of as few directions as its pattern allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError, CheckFailedError
from enzyme_driver.model import Signature
from enzyme_driver.runtime.call.layouts import numpy_layout
from enzyme_driver.runtime.transforms.colouring import Coloured, coloured, scipy_sparse
from enzyme_driver.runtime.transforms.sparsity import asked_arrays

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
        output, given = asked_arrays(self.signature, self.values, self.of, self.wrt)
        return (output if name == self.of else given)[1]

    def numbers(self, name: str) -> Any:  # noqa: ANN401
        """All numbers of an array, those of structs and of complex numbers too, as one row."""
        array = self.array(name)
        return array.reshape(-1).view(_type_of_numbers(name, array.dtype))

    def forward(self, seeds: Any) -> Any:  # noqa: ANN401
        """What [directions, numbers of wrt] become: [directions, numbers of of]."""
        if self.jvp is None:
            raise TypeError(self)
        found = self.jvp(*self.values, tangents={self.wrt: self._shaped(self.wrt, seeds)}, directions=len(seeds))
        return found[self.of].reshape(len(seeds), -1).view(self.numbers(self.of).dtype)

    def back(self, seeds: Any) -> Any:  # noqa: ANN401
        """What [directions, numbers of of] become: [directions, numbers of wrt]."""
        cotangents = {self.of: self._shaped(self.of, seeds)}
        found = self.vjp(*self.values, cotangents=cotangents, wrt=self.wrt, directions=len(seeds))
        return found[self.wrt].reshape(len(seeds), -1).view(self.numbers(self.wrt).dtype)

    def _shaped(self, name: str, seeds: Any) -> Any:  # noqa: ANN401
        array = self.array(name)
        return seeds.view(array.dtype).reshape(len(seeds), *array.shape)


def jacobian(asked: Asked, pattern: Any, *, check: bool) -> Any:  # noqa: ANN401
    """CSR [size of `of`, size of `wrt`], of SciPy on the host and of CuPy on a GPU; see `Kernel.jacobian`."""
    output, given = asked.numbers(asked.of), asked.numbers(asked.wrt)
    xp = _library(output)
    known = coloured(pattern, (int(output.size), int(given.size)))
    forward = asked.jvp is not None and known.prefers_columns()
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
    coarse = min(asked.numbers(name).dtype.itemsize for name in (asked.of, asked.wrt))
    if known.shape[1] and not float(error[worst]) <= CLOSE[coarse] * scale:
        raise CheckFailedError(
            f"the pattern lacks an entry of column {worst}: {asked.of!r} changes by {asked.wrt!r} there in more places",
            hint="leave the pattern out, or give one that holds every entry that may differ from zero",
        )


def _type_of_numbers(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """That of all numbers in an element. Raises ArgumentError where it holds others too."""
    size, leaves = numpy_layout(dtype)
    kinds = {(leaf.kind, leaf.size) for leaf in leaves}
    if len(kinds) != 1 or len(leaves) * leaves[0].size != size:
        raise ArgumentError(
            f"a sparse Jacobian with {name!r}: an element holds more than numbers of one type ({dtype})",
            hint="use vjp or jvp with directions",
        )
    return dtype if size == leaves[0].size else np.dtype(f"f{leaves[0].size}")


def _library(array: Any) -> Any:  # noqa: ANN401
    if isinstance(array, np.ndarray):
        return np
    if type(array).__module__.partition(".")[0] == "cupy":
        import cupy  # type: ignore[import-not-found, unused-ignore]

        return cupy
    raise ArgumentError(f"a sparse Jacobian of a {type(array).__name__}", hint="give NumPy or CuPy arrays")
