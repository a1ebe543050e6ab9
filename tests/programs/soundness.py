"""What must hold for every program: it computes, its writes are known, and its gradient is that of its primal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from programs.draw import Array
from programs.program import Args, Program

from enzyme_driver.runtime.transforms.check import CheckResult

NOTHING = 1e-8
"""A derivative this small is rounding."""

Compiled = Any  # a Kernel or a Function


def run(compiled: Compiled, program: Program, args: Args) -> float | None:
    """The primal."""
    called = compiled if program.block is None else compiled[program.launch]
    result: float | None = called(*args.values())
    return result


def with_arrays(value: Any, change: Callable[[Array], Any]) -> Any:  # noqa: ANN401
    """The argument with every array in it changed; structs of pointers are dicts of arrays, or of lists of them."""
    if isinstance(value, dict):
        return {name: with_arrays(item, change) for name, item in value.items()}
    if isinstance(value, list):
        return [with_arrays(item, change) for item in value]
    return change(value) if isinstance(value, np.ndarray) else value


def arrays_in(args: Args) -> dict[str, Array]:
    """All arrays by name, those in structs as `struct.member` or `struct.member[2]`."""
    return dict(named for name, value in args.items() for named in _named(name, value))


def _named(name: str, value: object) -> Iterator[tuple[str, Array]]:
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, dict):
        for inner, item in value.items():
            yield from _named(f"{name}.{inner}", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _named(f"{name}[{index}]", item)


def changed_arrays(compiled: Compiled, program: Program, args: Args) -> set[str]:
    """The arrays that a call of the primal changes; `args` stay as they are. Asserts that results are finite, or the
    logarithm of what cannot be."""
    copies = {name: with_arrays(value, np.copy) for name, value in args.items()}
    result = run(compiled, program, copies)
    if result is not None:
        assert np.isfinite(result)
    after = arrays_in(copies)
    changed = {name for name, value in arrays_in(args).items() if not _same(value, after[name])}
    for name in changed:
        found = numbers(after[name])
        assert all((np.isfinite(part) | (part == -np.inf)).all() for part in found), f"{name} is not finite"
    return changed


def _same(one: Array, other: Array) -> bool:
    """Bit by bit, but for the padding of structs."""
    return all(a.tobytes() == b.tobytes() for a, b in zip(numbers(one), numbers(other), strict=True))


def numbers(array: Array) -> list[Array]:
    """The array itself, or the members of structs."""
    if array.dtype.names is None:
        return [array]
    return [part for name in array.dtype.names for part in numbers(array[name])]


def check(compiled: Compiled, program: Program, args: Args, seed: int) -> CheckResult:
    """Raises CheckFailedError where the gradient with respect to any parameter is wrong."""
    subject = compiled.check if program.block is None else compiled.check[program.launch]
    result: CheckResult = subject(*args.values(), seed=seed, tolerance=program.tolerance)
    return result


def assert_sound(compiled: Compiled, program: Program, seed: int) -> None:
    """The whole of it, on fresh random arguments."""
    args = program.make(np.random.default_rng(seed))
    assert compiled.signature.names == tuple(args)
    assert changed_arrays(compiled, program, args) == set(program.outputs)
    assert not any(each.is_pointer and not each.writes and each.name in program.outputs for each in compiled.signature)
    result = check(compiled, program, args, seed)
    flat = {parameter.name for parameter in result.parameters if abs(parameter.difference) < NOTHING}
    assert flat == program.flat, f"inputs without influence: {flat}"
