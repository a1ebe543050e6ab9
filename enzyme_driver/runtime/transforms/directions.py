"""The directions of a Jacobian by one launch, where the code has a kernel that does many at once (mode "batched").

Every launch has copies of its own of all that it writes: arrays, and shadows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from enzyme_driver.model import Signature
from enzyme_driver.runtime.call.layouts import numpy_dtype
from enzyme_driver.runtime.call.slots import written
from enzyme_driver.runtime.transforms.batch import Advance, Batch

Together = Callable[[Batch, Sequence[object], Mapping[str, object]], None]
"""Does the launches of a gradient, or of what carries tangents, on the arrays of the first one."""


def carried_together(
    xp: Any,  # noqa: ANN401  (NumPy or CuPy)
    signature: Signature,
    values: Sequence[object],
    seeds: Mapping[str, Any],
    run: Together,
) -> dict[str, Any]:
    """The shadows after launches with these seeds, [directions, *shape] each, which stay as they are.

    `signature` is that of the mode; arguments are arrays of the library and numbers.
    """
    count = len(next(iter(seeds.values())))
    arguments, moves = list(values), dict[str, Advance]()
    for place, parameter in enumerate(signature):
        value: Any = values[place]
        if written(parameter) and value is not None:
            copies = xp.array(xp.broadcast_to(value, (count, *value.shape)), order="C")
            arguments[place] = copies[0]
            moves[parameter.name] = Advance(inner=copies.nbytes // count)
    shadows = {
        parameter.name: _shadows(xp, parameter.is_pointer, parameter.dtype, value, seeds.get(parameter.name), count)
        for parameter, value in zip(signature, values, strict=True)
        if parameter.has_shadow
    }
    advances = {name: Advance(inner=made.nbytes // count) for name, made in shadows.items()}
    run(
        Batch(inner=count, arguments=moves, shadows=advances),
        arguments,
        {name: made[0] for name, made in shadows.items()},
    )
    return shadows


def _shadows(xp: Any, is_array: Any, dtype: Any, value: Any, seeds: Any, count: int) -> Any:  # noqa: ANN401
    if seeds is not None:
        return xp.array(seeds)
    shape, kind = (value.shape, value.dtype) if is_array else ((1,), numpy_dtype(dtype))
    return xp.zeros((count, *shape), kind)
