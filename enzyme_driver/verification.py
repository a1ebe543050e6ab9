"""Has the gradients of a compiled module verify themselves; their witness is compiled when one is looked at first."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from enzyme_driver import cache
from enzyme_driver.request import Request
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
    wanted = replace(request, targets=(subject.target,), modes=("reverse",), witness=True)
    made = module.load(cache.build(wanted, settings=settings, use_cache=use_cache), subject.target)
    symbol = subject.signature.symbol
    return module.standing_for(next(each for each in made if each.signature.symbol == symbol), subject)
