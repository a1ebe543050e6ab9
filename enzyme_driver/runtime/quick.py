"""Calls of primals and gradients on arguments that are plain (see `call/plain.py`), with nothing else done around them.

Each of these says that it has done nothing where a call is not plain; the caller then goes the way of all calls, which
also says what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from enzyme_driver.model import Signature, Target, TargetEntry
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.plain import (
    Arrays,
    PlainCall,
    PlainLibrary,
    PlainSignature,
    nbytes_of,
    number_format,
    plain_signature,
)

_NOTHING: Mapping[str, Any] = {}


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
        return self._run(entry, plain, known.arrays, found[0], arguments, launch) if found else None

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
        given = [shadows[plain.places[number].name] for number in plain.active]
        return self._differentiate(entry, plain, known.arrays, (found[0], added), arguments, given, launch, cotangent)

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
        arrays = known.arrays
        found = plain.values(known, arguments, copied=True)
        rows = plain.seeded(tuple(seeds)) if found else None
        if not found or not rows or not _are_cotangents(plain, known, arguments, seeds):
            return None
        made = _shadows(rows, known, arguments, seeds, arguments[plain.first])
        passed, copies = list(arguments), []
        for number in plain.written:
            given = arguments[number]
            passed[number] = array = arrays.empty_like(given) if number in plain.unread else arrays.copy(given)
            copies.append(array)
        shadows = list(made.values())
        new = arrays.addresses_of_new([*copies, *shadows])
        added = new[len(copies) :]
        for number, address in zip(plain.written, new, strict=False):
            found[0][number] = address
        if 0 in added or not self._differentiate(
            entry, plain, arrays, (found[0], added), passed, shadows, launch, cotangent
        ):
            return None
        return {name: made[name] for name in names}

    def _differentiate(
        self,
        entry: TargetEntry,
        plain: PlainSignature,
        arrays: Arrays,
        values: tuple[list[Any], list[int]],
        arguments: Sequence[Any],
        shadows: Sequence[Any],
        launch: Launch | None,
        cotangent: float,
    ) -> bool:
        last = self._returned
        if (last and type(cotangent) not in {int, float}) or (not last and cotangent != 1.0):
            return False
        everything = [*values[0], *values[1], cotangent] if last else [*values[0], *values[1]]
        told = values[1], tuple(map(nbytes_of, shadows))
        return self._run(entry, plain, arrays, everything, arguments, launch, told) is not None

    def _run(
        self,
        entry: TargetEntry,
        plain: PlainSignature,
        arrays: Arrays,
        values: Sequence[Any],
        arguments: Sequence[Any],
        launch: Launch | None,
        told: tuple[Sequence[int], tuple[int, ...]] | None = None,
    ) -> bytes | None:
        """What it returned; None where nothing was done. A gradient is `told` the addresses and sizes of its shadows.

        On a GPU a launch has read the packed arguments when it has been queued.
        """
        device = arrays.on_one_device(arguments, plain.arrays)
        form = plain.form(len(values), self._returned if told else "")
        taken = form.packed(values) if device is not None else None
        if taken is None or device is None:
            return None
        if told:
            call = PlainCall(taken[1], len(values), arrays, device, plain.shadows, *told, plain.described)
            result = self._backend.run_plain(entry, call, launch, 0, gradient=True)
        else:
            call = PlainCall(taken[1], len(values), arrays, device)
            result = self._backend.run_plain(entry, call, launch, self._size, gradient=False)
        form.give_back(taken)
        return result


def _shadows(
    rows: Sequence[tuple[str, int, bool, bool]],
    library: PlainLibrary,
    arguments: Sequence[Any],
    seeds: Mapping[str, Any],
    like: object,
) -> dict[str, Any]:
    """New ones, in the order of the parameters: copies of the cotangents, and zeros."""
    arrays = library.arrays
    bare = [arguments[number] for _, number, is_given, is_array in rows if is_array and not is_given]
    zeros = iter(arrays.zeros_like(bare))
    made: dict[str, Any] = {}
    for name, number, is_given, is_array in rows:
        if is_given:
            made[name] = arrays.copy(seeds[name])
        else:
            made[name] = next(zeros) if is_array else arrays.number(library.dtypes[number], like)
    return made


def _names(plain: PlainSignature, wrt: Iterable[str] | str | None) -> Sequence[str] | None:
    """The parameters whose derivatives are wanted."""
    if wrt is None:
        return plain.read
    names = (wrt,) if isinstance(wrt, str) else wrt
    return names if isinstance(names, (tuple, list)) and plain.shadowed.issuperset(names) else None


def _are_cotangents(
    plain: PlainSignature, library: PlainLibrary, arguments: Sequence[Any], seeds: Mapping[str, Any]
) -> bool:
    """Whether they are arrays like the arguments of their names."""
    arrays, dtypes = library.arrays, library.dtypes
    for name, seed in seeds.items():
        number = plain.index[name]
        if type(seed) is not arrays.kind or seed.dtype is not dtypes[number] or seed.shape != arguments[number].shape:
            return False
        if not arrays.address(seed, False):
            return False
    return True
