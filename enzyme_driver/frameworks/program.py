"""Programs: what is done to numbered buffers, in an order that needs no decision any more. `native/` runs them."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

Word = int


@dataclass(frozen=True)
class Patch:
    """Bytes of an argument that only a call knows: an address in a buffer (plus `count`), or `count` bytes of it."""

    offset: int
    buffer: int
    count: int = 0
    value: bool = False


@dataclass(frozen=True)
class Argument:
    data: bytes
    patches: tuple[Patch, ...] = ()


@dataclass(frozen=True)
class Shadow:
    """A shadow that the host's threads may have copies of; `argument` is -1 for that of what the primal writes."""

    argument: int
    element: int
    nbytes: int
    buffer: int


@dataclass(frozen=True)
class Zero:
    target: int


@dataclass(frozen=True)
class Copy:
    target: int
    source: int


@dataclass(frozen=True)
class Tape:
    """The kernel that measures a gradient's tape, what decides about its size, and what measuring writes to."""

    symbol: str
    size_from: str
    limit: int
    overwritten: tuple[int, ...] = ()


@dataclass(frozen=True)
class Run:
    """A launch, or the call of a function where the grid is (0, 0, 0)."""

    gpu: bool
    file: str
    symbol: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple[Argument, ...]
    result: int = -1
    shadows: tuple[Shadow, ...] = ()
    tape: Tape | None = None
    heap_bytes: int = 0

    @property
    def waits(self) -> bool:
        """Whether the host has to wait for the GPU, so that it cannot be part of a CUDA graph."""
        values = any(patch.value for argument in self.arguments for patch in argument.patches)
        return self.gpu and (values or self.tape is not None or self.heap_bytes > 0)


@dataclass(frozen=True)
class Add:
    """`source` is added to `target`; `element` is the size of their floating-point numbers in bytes."""

    target: int
    source: int
    element: int


Op = Zero | Copy | Run | Add

_VERSION = 2
_SIZES = {"scalars": 1, "arrays": 2, "run": 3, "run in place": 4}


@dataclass
class Program:
    """`sizes` are the bytes of the buffers, of which the first `externals` are the caller's: operands, then results.

    Errors name the `operator`.
    """

    operator: str = ""
    sizes: list[int] = field(default_factory=list)
    externals: int = 0
    ops: list[Op] = field(default_factory=list)

    def buffer(self, nbytes: int) -> int:
        self.sizes.append(nbytes)
        return len(self.sizes) - 1

    @property
    def waits(self) -> bool:
        return any(isinstance(op, Run) and op.waits for op in self.ops)

    def encoded(self) -> tuple[list[Word], str, int]:
        """Words and text as native/program.cpp reads them, and a number that names them."""
        names = {self.operator: 0}
        words = [_VERSION, 0, self.externals, len(self.sizes), *self.sizes, len(self.ops)]
        for op in self.ops:
            words += _encoded(op, names)
        text = "\n".join(names)
        digest = hashlib.sha256(struct.pack(f"<{len(words)}q", *words) + text.encode()).digest()
        return words, text, int.from_bytes(digest[:8], "little", signed=True)


def _encoded(op: Op, names: dict[str, int]) -> Iterator[Word]:
    if isinstance(op, Zero):
        yield from (0, op.target)
        return
    if isinstance(op, Copy):
        yield from (1, op.target, op.source)
        return
    if isinstance(op, Add):
        yield from (3, op.target, op.source, op.element)
        return

    def name(text: str) -> int:
        return names.setdefault(text, len(names))

    yield from (2, int(op.gpu), name(op.file), name(op.symbol), *op.grid, *op.block, op.shared_bytes, op.result)
    yield len(op.arguments)
    for argument in op.arguments:
        yield from _of_argument(argument)
    yield len(op.shadows)
    for shadow in op.shadows:
        yield from (shadow.argument, shadow.element, shadow.nbytes, shadow.buffer)
    tape = op.tape
    if tape is None:
        yield from (-1, 0, 0, 0)
    else:
        yield from (name(tape.symbol), _SIZES[tape.size_from], tape.limit, len(tape.overwritten), *tape.overwritten)
    yield op.heap_bytes


def _of_argument(argument: Argument) -> Iterator[Word]:
    padded = argument.data.ljust(-(-len(argument.data) // 8) * 8, b"\0")
    yield len(argument.data)
    yield from struct.unpack(f"<{len(padded) // 8}q", padded)
    yield len(argument.patches)
    for patch in argument.patches:
        yield from (patch.offset, int(patch.value), patch.buffer, patch.count)
