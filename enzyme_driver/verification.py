"""What is compiled beside a module when it is needed first.

Dual numbers have its gradients verify themselves, sets of inputs find patterns of its Jacobians, and gradients by some
of the parameters have only these.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np

from enzyme_driver import cache, command
from enzyme_driver.model import Target, owner
from enzyme_driver.request import Carried, Request
from enzyme_driver.runtime import module
from enzyme_driver.runtime.backends.libraries import library_of
from enzyme_driver.runtime.call.arrays import is_array
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.module import Module
from enzyme_driver.runtime.transforms.guard import Guard
from enzyme_driver.runtime.transforms.narrower import Narrower
from enzyme_driver.settings import Settings, Verify


def find_witnesses(loaded: Module, request: Request, settings: Settings, *, use_cache: bool) -> None:
    """Let entries of a module that was made of the request compile what their gradients are compared with."""
    for entry in loaded:
        entry.witness = partial(witness_of, entry, request, settings, use_cache=use_cache)


def guard(loaded: Module, request: Request, *, always: bool, asked: bool = True) -> None:
    """Put a guard before each entry of a module that was made of the request, and has found its witnesses."""
    for entry in loaded:
        if entry.witness and entry.signature.shadowed and not entry.gradient_refusal:
            repeated = partial(bisecting, entry, request, loaded.artifact.folder)
            entry.guard = Guard(entry.witness, loaded.artifact.folder, always=always, asked=asked, repeated=repeated)


def verifying(loaded: Module, request: Request, settings: Settings, *, use_cache: bool, verify: Verify | None) -> None:
    """Both of these, as the user has asked for; by default before the first call."""
    find_witnesses(loaded, request, settings, use_cache=use_cache)
    when = verify or settings.verify
    if when != "never":
        guard(loaded, request, always=when == "always", asked=when is not None)


def bisecting(
    subject: Kernel | Function, request: Request, folder: Path, values: tuple[object, ...], launch: Launch | None
) -> str:
    """The command that finds the optimisation at fault, with these arguments, whose arrays are kept in the folder."""
    signature = subject.signature
    words = ["adgen", "bisect", str(request.path), "-k", signature.name, "-t", subject.target]
    words += [word for name, kind in request.activity for word in ("--activity", f"{name}={kind}")]
    words += ["--fast-math"] if request.fast_math else []
    if launch:
        words += ["--grid", ",".join(map(str, launch.grid)), "--block", ",".join(map(str, launch.block))]
        words += ["--shared-bytes", str(launch.said_bytes)] if launch.said_bytes is not None else []
    kept = folder / "mismatch" / signature.symbol
    for parameter, value in zip(signature, values, strict=True):
        words += ["--arg", f"{parameter.name}={_spelled(value, kept / f'{parameter.name}.npy', subject.target)}"]
    return command.in_shell([*words, *(["--", *request.flags] if request.flags else [])])


def _spelled(value: object, path: Path, target: Target) -> str:
    """As the command line takes it; dots for what it does not take, or what cannot be kept."""
    if isinstance(value, (bool, int, float, np.number)):
        return str(value)
    if not is_array(value):
        return "..."
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, library_of(value, target).to_host(value), allow_pickle=False)
    except (OSError, ValueError):
        return "..."
    return str(path)


def witness_of(
    subject: Kernel | Function, request: Request, settings: Settings, *, use_cache: bool
) -> Kernel | Function:
    """What carries dual numbers through the entry's primal, on its target. Raises what compiling raises."""
    return _carrying("duals", subject, subject.target, request, settings, use_cache=use_cache)


def find_patterns(loaded: Module, request: Request, settings: Settings, *, use_cache: bool) -> None:
    """Let kernels of a module that was made of the request find patterns of their Jacobians, on the host."""
    from enzyme_driver.runtime.transforms.sparsity import Patterns

    for entry in loaded:
        if isinstance(entry, Kernel):
            entry.patterns = Patterns(partial(_sets_of, entry, request, settings, use_cache))


def _sets_of(subject: Kernel, request: Request, settings: Settings, use_cache: bool, for_all: bool) -> Kernel:
    carried: Carried = "global-sets" if for_all else "sets"
    return cast("Kernel", _carrying(carried, subject, "openmp", request, settings, use_cache=use_cache))


def _carrying(
    carried: Carried,
    subject: Kernel | Function,
    target: Target,
    request: Request,
    settings: Settings,
    *,
    use_cache: bool,
) -> Kernel | Function:
    wanted = replace(request, targets=(target,), modes=("reverse",), witness=carried)
    made = module.load(cache.build(wanted, settings=settings, use_cache=use_cache), target)
    symbol = subject.signature.symbol
    return module.standing_for(next(each for each in made if each.signature.symbol == symbol), subject)


def find_narrower(
    loaded: Module, request: Request, settings: Settings, *, use_cache: bool, verify: Verify | None
) -> None:
    """Let entries of a module that was made of the request compile gradients by some of their parameters."""
    for entry in loaded:
        entry.narrower = Narrower(
            entry.signature, partial(_without, entry, request, settings, use_cache=use_cache, verify=verify)
        )


def _without(
    subject: Kernel | Function,
    request: Request,
    settings: Settings,
    names: tuple[str, ...],
    *,
    use_cache: bool,
    verify: Verify | None,
) -> Kernel | Function:
    """The entry with these parameters constant, verified as it is. Raises what compiling raises."""
    signature = subject.signature
    own = {name: kind for name, kind in request.activity if owner(name) in signature.names}
    activity = tuple(sorted({**own, **dict.fromkeys(names, "const")}.items()))
    wanted = replace(request, names=(signature.name,), modes=("reverse",), activity=activity)
    loaded = module.load(cache.build(wanted, settings=settings, use_cache=use_cache), subject.target)
    verifying(loaded, wanted, settings, use_cache=use_cache, verify=verify)
    return next(each for each in loaded if each.signature.symbol == signature.symbol)
