"""What becomes of a file of constructs: compiled for its targets, each gradient checked on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from enzyme_driver.runtime.module import Kernel, Module
from enzyme_driver.settings import Settings

NOTHING = 1e-8
"""A derivative this small is rounding."""


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
        file.path, targets=file.targets, activity=file.activity, flags=file.flags, fast_math=file.fast_math
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


def checked(construct: Construct, loaded: Module, seed: int, put: Callable[[Any], Any] = np.asarray) -> str:
    """What is wrong with the gradient, if anything; `put` places an array where the target reads it."""
    kernel = loaded[construct.entry]
    assert isinstance(kernel, Kernel)
    rng = np.random.default_rng(seed)
    given = arguments(kernel.signature, construct.given, rng)
    args = {name: with_arrays(value, put) for name, value in given.items()}
    for variable in kernel.signature.variables:
        if not variable.dtype.has_pointers:
            kernel.variables[variable.name] = filled(variable.dtype, variable.shape, rng)
    try:
        found = kernel.check[construct.launch](*args.values(), seed=seed, tolerance=construct.tolerance)
    except CheckFailedError as problem:
        return problem.reason
    flat = {parameter.name for parameter in found.parameters if abs(parameter.difference) < NOTHING}
    return "" if flat == construct.flat else f"inputs without influence: {sorted(flat)}"
