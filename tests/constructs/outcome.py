"""What becomes of a file of constructs: compiled for its targets, each gradient checked on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from constructs.arguments import arguments, filled
from constructs.construct import Construct, SourceFile
from programs.soundness import with_arrays

from enzyme_driver import cache, request
from enzyme_driver.errors import CheckFailedError
from enzyme_driver.model import Entry, Target, TargetEntry
from enzyme_driver.runtime import module
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.module import Module
from enzyme_driver.settings import Settings

NOTHING = 1e-8
"""A derivative this small is rounding."""
STEP, SECOND = 1e-5, 1e-6
"""Of differences of gradients, and what second derivatives may be apart from them."""

Put = Callable[[Any], Any]


@dataclass(frozen=True)
class Outcome:
    """A construct with why each target refuses it, if so; `wrong` says what a gradient check found."""

    construct: Construct
    refused: dict[Target, str]
    wrong: str = ""

    @property
    def as_expected(self) -> bool:
        expected = self.construct.refused
        return bool(self.refused) == bool(expected) and expected in self.message and not self.wrong

    @property
    def message(self) -> str:
        """Why it is refused: the reason of the target that takes more."""
        return self.refused.get("cuda") or self.refused.get("openmp", "")


def compiled(file: SourceFile) -> Path:
    """The artifact of the file, for all its targets at once."""
    wanted = request.new(
        file.path,
        targets=file.targets,
        activity=file.activity,
        flags=file.flags,
        fast_math=file.fast_math,
        modes=file.modes,
    )
    return cache.build(wanted, settings=Settings.from_environment(), use_cache=True)


def outcomes(file: SourceFile, seed: int) -> Iterator[Outcome]:
    """One for each construct of the file, on fresh random arguments."""
    loaded = module.load(compiled(file), "openmp")
    entries = {entry.signature.name: entry for entry in loaded.artifact.entries}
    for construct in file.constructs:
        refused = _refused(entries[construct.entry])
        let_through = [
            name for name in construct.also if construct.refused not in "".join(_refused(entries[name]).values())
        ]
        wrong = f"not refused: {let_through}" if let_through else "" if refused else checked(construct, loaded, seed)
        yield Outcome(construct, refused, wrong)


def _refused(entry: Entry) -> dict[Target, str]:
    reasons = {target: _reason(made) for target, made in entry.targets.items()}
    return {target: reason for target, reason in reasons.items() if reason}


def _reason(made: TargetEntry) -> str:
    refusal = made.primal_refused or made.gradient_refused
    return refusal.reason if refusal else ""


def checked(construct: Construct, loaded: Module, seed: int, put: Put = np.asarray) -> str:
    """What is wrong with the gradient, if anything; `put` places an array where the target reads it."""
    subject = loaded[construct.entry]
    rng = np.random.default_rng(seed)
    given = arguments(subject.signature, construct.given, rng)
    args = {name: with_arrays(value, put) for name, value in given.items()}
    if isinstance(subject, Kernel):
        for variable in subject.signature.variables:
            if not variable.dtype.has_pointers:
                subject.variables[variable.name] = filled(variable.dtype, variable.shape, rng)
    check = subject.check[construct.launch] if isinstance(subject, Kernel) else subject.check
    try:
        found = check(*args.values(), seed=seed, tolerance=construct.tolerance)
    except CheckFailedError as problem:
        return problem.reason
    flat = {each.name for each in found.parameters if max(abs(each.difference), abs(each.gradient)) < NOTHING}
    if flat != construct.flat:
        return f"inputs without influence: {sorted(flat)}"
    return wrong_second(construct, subject, given, rng, put) if construct.second else ""


def wrong_second(
    construct: Construct, kernel: Kernel | Function, given: Mapping[str, Any], rng: np.random.Generator, put: Put
) -> str:
    """What is wrong with the gradient's derivative along a random direction: it is compared with differences."""
    assert isinstance(kernel, Kernel)
    arrays = [parameter for parameter in kernel.signature if parameter.is_pointer]
    drawn = {each.name: rng.uniform(-1, 1, given[each.name].shape) for each in arrays}
    inputs = [each.name for each in arrays if not each.writes]
    cotangents = {each.name: put(drawn[each.name]) for each in arrays if each.writes}

    def gradient(step: float) -> dict[str, Any]:
        at = {name: value + step * drawn[name] if name in inputs else value for name, value in given.items()}
        args = [with_arrays(value, put) for value in at.values()]
        return _on_host(kernel.vjp[construct.launch](*args, cotangents=cotangents, wrt=inputs))

    args = [with_arrays(value, put) for value in given.values()]
    tangents = {name: put(drawn[name]) for name in inputs}
    found = _on_host(kernel.hvp[construct.launch](*args, tangents=tangents, cotangents=cotangents, wrt=inputs))
    above, below = gradient(STEP), gradient(-STEP)
    apart = {name: np.abs(found[name] - (above[name] - below[name]) / (2 * STEP)).max() for name in inputs}
    wrong = {name: error for name, error in apart.items() if not error <= SECOND * max(1, np.abs(found[name]).max())}
    return f"second derivatives are wrong by {wrong}" if wrong else ""


def _on_host(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(array.get() if hasattr(array, "get") else array) for name, array in arrays.items()}
