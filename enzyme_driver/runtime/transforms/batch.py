"""Many launches of one gradient at once: those of a Jacobian's directions, and of the steps of a chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from enzyme_driver.errors import RefusedError
from enzyme_driver.model import Parameter, Signature, TargetEntry
from enzyme_driver.runtime.call.arrivals import refused
from enzyme_driver.runtime.call.packing import pointer_bytes


@dataclass(frozen=True)
class Advance:
    """By how many bytes an argument moves from one launch to the next, with the outer and with the inner index."""

    outer: int = 0
    inner: int = 0


STILL = Advance()


@dataclass(frozen=True)
class Batch:
    """`outer` times `inner` launches; arrays that are not named are the same in all of them.

    Launches run at the same time: what one writes, in arrays and in shadows, no other may read or write.
    """

    outer: int = 1
    inner: int = 1
    arguments: Mapping[str, Advance] = field(default_factory=dict)
    shadows: Mapping[str, Advance] = field(default_factory=dict)

    def advances(self, signature: Signature) -> list[Advance]:
        """One for each pointer among the gradient's parameters. Raises RefusedError for structs of pointers."""
        if signature.chooses:
            raise RefusedError(f"{signature.name}, in which atomics choose, runs once at a time", hint="use vjp")
        if signature.unordered:
            raise refused(signature, "many launches at once have as many orders")
        for parameter in signature:
            if parameter.dtype.has_pointers:
                raise RefusedError(
                    f"{signature.name}: the pointers in {parameter.name!r} cannot be moved from launch to launch",
                    hint="pass the arrays as parameters of the kernel",
                )
        own = [self.arguments.get(parameter.name, STILL) for parameter in signature if _by_pointer(parameter)]
        return own + [self.shadows.get(parameter.name, STILL) for parameter in signature.shadowed]

    def moved(self, values: tuple[bytes, ...], signature: Signature) -> Iterator[tuple[bytes, ...]]:
        """The values of each launch."""
        advances = iter(self.advances(signature))
        shadows = [True] * len(signature.shadowed)
        moving = [next(advances) if by else STILL for by in [*map(_by_pointer, signature), *shadows]]
        for outer in range(self.outer):
            for inner in range(self.inner):
                yield tuple(
                    pointer_bytes(int.from_bytes(value, "little") + outer * by.outer + inner * by.inner)
                    if by != STILL
                    else value
                    for value, by in zip(values, moving, strict=True)
                )


def _by_pointer(parameter: Parameter) -> bool:
    return parameter.form == "pointer"


def batch_symbol(name: str, entry: TargetEntry) -> str:
    """The kernel for many launches. Raises RefusedError where there is none."""
    if entry.batch is None:
        raise RefusedError(
            f"{name} has no kernel for many launches at once",
            hint='compile it with modes=["batched"]; a gradient that keeps values of loops on a tape has none',
        )
    return entry.batch
