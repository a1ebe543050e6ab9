"""How an operator's kernel may be launched on data of a shape; one of the choices is taken by measuring."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

BLOCKS = (32, 64, 128, 256, 512, 1024)
"""Threads of a block that are tried."""

WARP = 32
ROWS_A_THREAD = 16
LINE = 16  # floats in a line of the host's cache
HOST_ROWS, HOST_BLOCK = 256, 256
TILE, STRIPS = 32, 8  # of transpose.cu
ELEMENTS_A_THREAD = 4  # of each.cuh
PRODUCTS = {"small": ((16, 16), 1), "middle": ((16, 16), 4), "large": ((16, 8), 8)}
"""Threads of a block of matmul.cu, and how many elements along an edge each has."""
HALF, VECTOR = 2, 16
"""Bytes of a number of half precision, and of a vector."""


@dataclass(frozen=True)
class Launch:
    """A kernel of the operator's file, with its grid and block."""

    kernel: str
    grid: tuple[int, int]
    block: tuple[int, int]
    switches: tuple[bool | int, ...] = ()
    """Template arguments behind the type."""
    shared: int = 0
    """Bytes of dynamic shared memory."""

    @property
    def template(self) -> str:
        """The kernel's name in C++, with `{}` for the type."""
        return f"{self.kernel}<{', '.join(('{}', *(str(on).lower() for on in self.switches)))}>"

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1]


@dataclass(frozen=True)
class Tile:
    """What a block of matmul_tensor.cu computes: template arguments of `product` for factors of two bytes.

    Of four bytes, half as many inner indices are in shared memory at a time.
    """

    rows: int
    columns: int
    depth: int
    stages: int
    warps: tuple[int, int]

    def shared(self, size: int, turned: tuple[bool, bool]) -> int:
        """As Tile::bytes in tensor_tile.cuh, for elements of so many bytes."""
        wide, (of_a, of_b) = size > HALF, turned
        depth = self.depth * HALF // size
        a = (depth, self.rows) if of_a else (self.rows, depth)
        b = (self.columns, depth) if of_b else (depth, self.columns)
        paddings = (4 if wide and not of_a else 8, 4 if wide and of_b else 8)
        return sum(high * (long + added) for (high, long), added in zip((a, b), paddings, strict=True)) * (
            self.stages * size
        )

    def launch(self, extents: tuple[int, int, int], size: int, turned: tuple[bool, bool]) -> Launch:
        rows, columns, depth = extents
        lengths = (columns, rows if turned[0] else depth, depth if turned[1] else columns)
        vectors = all(length * size % VECTOR == 0 for length in lengths)
        numbers = (self.rows, self.columns, self.depth * HALF // size, self.stages, *self.warps)
        blocks = _ceil(rows, self.rows) * _ceil(columns, self.columns)
        block = (WARP * self.warps[0] * self.warps[1], 1)
        return Launch("product", (blocks, 1), block, (*numbers, vectors, *turned), self.shared(size, turned))


Choices = Callable[[bool, tuple[int, ...]], Iterator[Launch]]
"""Of (whether on a GPU, the extents that the kernel takes)."""


def _ceil(count: int, size: int) -> int:
    return -(-count // size)


def elementwise(kernel: str) -> Choices:
    """One thread for some elements."""

    def choices(on_gpu: bool, extents: tuple[int, ...]) -> Iterator[Launch]:
        (count,) = extents
        blocks = BLOCKS if on_gpu else (HOST_BLOCK,)
        return (Launch(kernel, (_ceil(count, ELEMENTS_A_THREAD * block), 1), (block, 1)) for block in blocks)

    return choices


def repeat_row(on_gpu: bool, extents: tuple[int, ...]) -> Iterator[Launch]:
    """Threads side by side write neighbouring columns, each some rows of one."""
    rows, columns = extents
    if not on_gpu:
        yield Launch("repeat_row", (_ceil(columns, LINE), _ceil(rows, HOST_ROWS)), (LINE, 1))
        return
    for block in BLOCKS:
        high = block // WARP
        yield Launch("repeat_row", (_ceil(columns, WARP), _ceil(rows, high * ROWS_A_THREAD)), (WARP, high))


def repeat_column(on_gpu: bool, extents: tuple[int, ...]) -> Iterator[Launch]:
    rows, columns = extents
    if not on_gpu:
        yield Launch("repeat_column", (1, _ceil(rows, LINE)), (1, LINE))
        return
    for block in BLOCKS:
        high = block // WARP
        yield Launch("repeat_column", (_ceil(columns, WARP * ROWS_A_THREAD), _ceil(rows, high)), (WARP, high))


def down_rows(kernel: str) -> Choices:
    """A block takes some columns, and its threads share the rows."""

    def choices(on_gpu: bool, extents: tuple[int, ...]) -> Iterator[Launch]:
        columns = extents[1]
        if not on_gpu:
            return iter([Launch(kernel, (_ceil(columns, LINE), 1), (LINE, 1))])
        return (Launch(kernel, (_ceil(columns, WARP), 1), (WARP, block // WARP)) for block in BLOCKS)

    return choices


def along_columns(kernel: str) -> Choices:
    """A block takes one row."""

    def choices(on_gpu: bool, extents: tuple[int, ...]) -> Iterator[Launch]:
        rows = extents[0]
        return (Launch(kernel, (rows, 1), (block, 1)) for block in (BLOCKS if on_gpu else (1,)))

    return choices


def transpose(on_gpu: bool, extents: tuple[int, ...]) -> Iterator[Launch]:
    del on_gpu
    rows, columns = extents
    yield Launch("transpose", (_ceil(columns, TILE), _ceil(rows, TILE)), (TILE, STRIPS))


def matmul(*, turned: tuple[bool, bool] = (False, False)) -> Choices:
    """Large blocks reuse more, small ones are more of them. `turned`: which operand lies in memory transposed.

    On the host the largest were never the fastest, and take seconds each to compile.
    """

    def choices(on_gpu: bool, extents: tuple[int, ...]) -> Iterator[Launch]:
        rows, columns, _ = extents
        for kernel, ((across, down), per) in PRODUCTS.items():
            if kernel == "large" and not on_gpu:
                continue
            grid = (_ceil(columns, across * per), _ceil(rows, down * per))
            yield Launch(kernel, grid, (across, down), turned)

    return choices


def matmul_tensor(size: int, *, turned: tuple[bool, bool] = (False, False)) -> Choices:
    """The same on Tensor Cores, for factors of so many bytes each."""

    def choices(on_gpu: bool, extents: tuple[int, ...]) -> Iterator[Launch]:
        del on_gpu
        rows, columns, depth = extents
        return (tile.launch((rows, columns, depth), size, turned) for tile in TILES)

    return choices


TILES = (
    Tile(32, 32, 64, 4, (1, 2)),
    Tile(64, 64, 64, 3, (2, 2)),
    Tile(128, 128, 64, 3, (2, 2)),
    Tile(128, 256, 64, 3, (2, 4)),
)
"""From the smallest to the largest: small ones are more blocks."""
