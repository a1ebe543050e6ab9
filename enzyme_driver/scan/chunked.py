"""The work-efficient scan of chains of dense Jacobians: products of chunks, a scan over these, steps inside each chunk.

A chunk's product is the Jacobian of all its steps, so that the chunks are a chain again, which is treated in the same
way until it is short. All of it is linear back-propagation where a chain is one chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from enzyme_driver.scan import kernels
from enzyme_driver.scan.chain import Chain, chain


@dataclass(frozen=True)
class Work:
    """The kernels for a chain, with or without direct cotangents."""

    chain: Chain
    direct: Any

    def products(self, chunk: int) -> tuple[Chain, Any]:
        """The chain of the chunks' products, and what direct cotangents make in each by themselves."""
        given, xp = self.chain, self.chain.library
        chunks = -(-given.steps // chunk)
        products = xp.empty((chunks, given.batch, given.size, given.size), given.dtype)
        has = self.direct is not None
        offsets = xp.empty((chunks, given.batch, given.size), given.dtype) if has else None
        if given.size > kernels.SMALL_STATE and given.target == "cuda":
            self._multiply(chunk, products, offsets)
        else:
            self._run("chunk_products", chunk, products, _unused(xp, given.dtype, 1) if offsets is None else offsets)
        return chain(products), offsets

    def cotangents(self, ends: Any, chunk: int) -> Any:  # noqa: ANN401
        """The cotangents of all states from those behind each chunk."""
        given, xp = self.chain, self.chain.library
        result = xp.empty((given.steps + 1, given.batch, given.size), given.dtype)
        if given.size > kernels.SMALL_STATE and given.target == "cuda":
            self._carry(chunk, ends, result)
        else:
            self._run("chunk_cotangents", chunk, ends, result)
        return result

    def _run(self, name: str, chunk: int, *arrays: Any) -> None:  # noqa: ANN401
        given, has = self.chain, self.direct is not None
        direct = self.direct if has else _unused(given.library, given.dtype, 0)
        numbers = (given.steps, given.batch, chunk)
        items = -(-given.steps // chunk) * given.batch
        if given.target == "openmp":
            run = kernels.loaded(kernels.host_instance(name, given.dtype, has), "openmp")
            run(given.memory, direct, *arrays, *numbers, given.size, *given.strides)
            return
        if name == "chunk_products":
            instance = kernels.products_instance(given.dtype, given.size, has)
            lanes = -(-(given.size + has) // kernels.columns(given.size, given.dtype.itemsize, has))
        else:
            instance, lanes = kernels.cotangents_instance(given.dtype, given.size, has), given.size
        blocks = -(-items // (kernels.WARP // lanes))
        kernels.loaded(instance, "cuda")[blocks, kernels.WARP](given.memory, direct, *arrays, *numbers, *given.strides)

    def _multiply(self, chunk: int, products: Any, offsets: Any) -> None:  # noqa: ANN401
        """Products of large states by batched matrix products of the library (cuBLAS), of all chunks at once."""
        given, xp = self.chain, self.chain.library
        products[...] = xp.eye(given.size, dtype=given.dtype)
        if offsets is not None:
            offsets[...] = 0
        for live, at in _each_offset(given.steps, chunk):
            matrices = given.jacobians[at]
            products[live] = xp.matmul(products[live], matrices)
            if offsets is not None:
                offsets[live] = _transposed_times(xp, matrices, offsets[live]) + self.direct[at]

    def _carry(self, chunk: int, ends: Any, result: Any) -> None:  # noqa: ANN401
        given, xp = self.chain, self.chain.library
        result[given.steps] = ends[-1]
        carried = ends.copy()
        for live, at in _each_offset(given.steps, chunk):
            carried[live] = _transposed_times(xp, given.jacobians[at], carried[live])
            if self.direct is not None:
                carried[live] += self.direct[at]
            result[at] = carried[live]


@lru_cache(maxsize=16)
def _unused(xp: Any, dtype: Any, number: int) -> Any:  # noqa: ANN401
    """An array for a parameter behind which nothing is read or written."""
    del number
    return xp.zeros(1, dtype)


def scan(given: Chain, last: Any, direct: Any, chunks: tuple[int, ...]) -> Any:  # noqa: ANN401
    """Cotangents [steps + 1, batch, size]; `chunks` has the length of chunks on each level, none for the linear way."""
    work = Work(given, direct)
    if not chunks or chunks[0] >= given.steps:
        return work.cotangents(last[None], given.steps)
    products, offsets = work.products(chunks[0])
    ends = scan(products, last, offsets, chunks[1:])
    return work.cotangents(ends[1:], chunks[0])


def _each_offset(steps: int, chunk: int) -> Iterator[tuple[slice, slice]]:
    """For each place in a chunk, the last first: the chunks that have it (the last may be short), and their steps."""
    for offset in reversed(range(min(chunk, steps))):
        yield slice(0, -(-(steps - offset) // chunk)), slice(offset, steps, chunk)


def _transposed_times(xp: Any, matrices: Any, vectors: Any) -> Any:  # noqa: ANN401
    return xp.matmul(vectors[..., None, :], matrices)[..., 0, :]
