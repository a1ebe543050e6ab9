"""Numbers of other kinds, compiled beside a module when they are needed first.

Dual numbers have its gradients verify themselves, sets of inputs find patterns of its Jacobians.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import cast

from enzyme_driver import cache
from enzyme_driver.model import Target
from enzyme_driver.request import Carried, Request
from enzyme_driver.runtime import module
from enzyme_driver.runtime.module import Function, Kernel, Module
from enzyme_driver.runtime.transforms.guard import Guard
from enzyme_driver.settings import Settings


def guard(loaded: Module, request: Request, settings: Settings, *, always: bool, use_cache: bool) -> None:
    """Put a guard before each entry of a module that was made of the request."""
    for entry in loaded:
        if entry.signature.shadowed and not entry.gradient_refusal:
            make = partial(witness_of, entry, request, settings, use_cache=use_cache)
            entry.guard = Guard(make, loaded.artifact.folder, always=always)


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
