"""Calls of primals and gradients on arguments that are plain (see `call/plain.py`), with nothing else done around them.

Each of these says that it has done nothing where a call is not plain; the caller then goes the way of all calls, which
also says what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from enzyme_driver.model import Signature, Target, TargetEntry
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.libraries import NOTHING_TO_FILL, Arrays, Fills, Given
from enzyme_driver.runtime.call.plain import (
    PlainCall,
    PlainLibrary,
    PlainSignature,
    number_format,
    plain_signature,
)

_NOTHING: Mapping[str, Any] = {}


@dataclass(slots=True)
class Told:
    """Of the shadows of a gradient: their addresses and bytes, and what new memory is filled with.

    Not frozen, as `ArrayView`.
    """

    addresses: Sequence[int]
    sizes: tuple[int, ...]
    fills: Fills = NOTHING_TO_FILL


class PlainBackend(Protocol):
    """Runs plain calls on one target."""

    target: Target

    def runs_plain(self, entry: TargetEntry, launch: Launch | None, *, gradient: bool) -> bool:
        """Whether nothing but the arguments belongs to such a launch."""

    def run_plain(
        self, entry: TargetEntry, call: PlainCall, launch: Launch | None, result_size: int, *, gradient: bool
    ) -> bytes:
        """What a function returned."""


class Quick:
    """The plain calls of one kernel or function."""

    def __init__(self, signature: Signature, backend: PlainBackend) -> None:
        self._plain = plain_signature(signature, backend.target)
        self._backend = backend
        returns = signature.returns
        self._returned = number_format(returns.name) if returns else ""
        self._size = returns.size if returns else 0
        if returns and not self._returned:
            self._plain = None

    def primal(self, entry: TargetEntry, arguments: Sequence[Any], launch: Launch | None) -> bytes | None:
        """What it returned; None where nothing was done."""
        plain = self._plain
        known = plain.library(arguments) if plain else None
        if plain is None or known is None or not self._backend.runs_plain(entry, launch, gradient=False):
            return None
        found = plain.values(known, arguments, copied=False)
        if not found:
            return None
        device = known.arrays.device([arguments[number] for number in plain.arrays])
        return self._run(entry, plain, known.arrays, device, found[0], launch)

    def gradient(
        self,
        entry: TargetEntry,
        arguments: Sequence[Any],
        shadows: Mapping[str, Any],
        launch: Launch | None,
        cotangent: float = 1.0,
    ) -> bool:
        """Whether it was called."""
        plain = self._plain
        known = plain.library(arguments) if plain else None
        if type(shadows) is not dict or plain is None or known is None:
            return False
        if not self._backend.runs_plain(entry, launch, gradient=True):
            return False
        found = plain.values(known, arguments, copied=False)
        added = plain.shadow_addresses(known, arguments, shadows, found[1]) if found else None
        if not found or not added:
            return False
        given = list(shadows.values())
        device = known.arrays.device([*(arguments[number] for number in plain.arrays), *given])
        if device is None:
            return False
        told = Told(added, tuple([shadows[plain.places[number].name].nbytes for number in plain.active]))
        return self._differentiate(entry, plain, known.arrays, device, found[0], told, launch, cotangent)

    def vjp(
        self,
        entry: TargetEntry,
        arguments: Sequence[Any],
        seeds: Mapping[str, Any] | None,
        wrt: Iterable[str] | str | None,
        launch: Launch | None,
        cotangent: float = 1.0,
    ) -> dict[str, Any] | None:
        """New arrays with the gradient; None where nothing was done."""
        plain, seeds = self._plain, _NOTHING if seeds is None else seeds
        known = plain.library(arguments) if plain else None
        names = _names(plain, wrt) if plain else None
        if type(seeds) is not dict or plain is None or known is None or names is None or not plain.active:
            return None
        if not self._backend.runs_plain(entry, launch, gradient=True):
            return None
        found = plain.values(known, arguments, copied=True)
        wanted = plain.wanted(known.arrays.kind, tuple(seeds), names) if found else None
        cotangents = _cotangents(plain, known, arguments, seeds) if wanted else None
        if not found or not wanted or cotangents is None:
            return None
        device = known.arrays.device([arguments[number] for number in plain.arrays])
        if device is None:
            return None
        given = Given(arguments, known.dtypes, arguments[plain.first], tuple(found[1][1]), cotangents)
        made = known.arrays.memory(wanted, given)
        for number, address in zip(plain.written, made.copies, strict=True):
            found[0][number] = address
        told = Told(made.shadows, made.sizes, made.fills)
        if not self._differentiate(entry, plain, known.arrays, device, found[0], told, launch, cotangent):
            return None
        return {name: made.results[name] for name in names}

    def _differentiate(
        self,
        entry: TargetEntry,
        plain: PlainSignature,
        arrays: Arrays,
        device: int,
        values: Sequence[Any],
        told: Told,
        launch: Launch | None,
        cotangent: float,
    ) -> bool:
        last = self._returned
        if (last and type(cotangent) not in {int, float}) or (not last and cotangent != 1.0):
            return False
        everything = [*values, *told.addresses, cotangent] if last else [*values, *told.addresses]
        return self._run(entry, plain, arrays, device, everything, launch, told) is not None

    def _run(
        self,
        entry: TargetEntry,
        plain: PlainSignature,
        arrays: Arrays,
        device: int | None,
        values: Sequence[Any],
        launch: Launch | None,
        told: Told | None = None,
    ) -> bytes | None:
        """What it returned; None where nothing was done. A gradient is `told` of its shadows.

        On a GPU a launch has read the packed arguments when it has been queued.
        """
        form = plain.form(len(values), self._returned if told else "")
        taken = form.packed(values) if device is not None else None
        if taken is None or device is None:
            return None
        if told:
            shadows = plain.shadows, told.addresses, told.sizes, plain.described
            call = PlainCall(taken[1], len(values), arrays, device, *shadows, told.fills)
            result = self._backend.run_plain(entry, call, launch, 0, gradient=True)
        else:
            call = PlainCall(taken[1], len(values), arrays, device)
            result = self._backend.run_plain(entry, call, launch, self._size, gradient=False)
        form.give_back(taken)
        return result


def _names(plain: PlainSignature, wrt: Iterable[str] | str | None) -> tuple[str, ...] | None:
    """The parameters whose derivatives are wanted."""
    if wrt is None:
        return plain.read
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt) if isinstance(wrt, (tuple, list)) else None
    return names if names is not None and plain.shadowed.issuperset(names) else None


def _cotangents(
    plain: PlainSignature, library: PlainLibrary, arguments: Sequence[Any], seeds: Mapping[str, Any]
) -> dict[str, tuple[Any, int]] | None:
    """Each with its address; None where they are not all arrays like the arguments of their names."""
    arrays, dtypes, found = library.arrays, library.dtypes, {}
    for name, seed in seeds.items():
        number = plain.index[name]
        if type(seed) is not arrays.kind or seed.dtype is not dtypes[number] or seed.shape != arguments[number].shape:
            return None
        address = arrays.address(seed, False)
        if not address:
            return None
        found[name] = seed, address
    return found
