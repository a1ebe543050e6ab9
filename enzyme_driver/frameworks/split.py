"""Which arrays of an operator may be split along which axis, so that parts are computed by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from enzyme_driver.errors import UsageError

if TYPE_CHECKING:
    from enzyme_driver.frameworks.description import Operator

RESULT = "return"
_SAME = 1e-5


class Split:
    """`inputs` are the axes by the names of those arrays that are split together, `results` those of the results.

    Raises UsageError where the operator has no such array.
    """

    def __init__(self, operator: Operator, axes: Mapping[str, int | Sequence[int]]) -> None:
        names = [each.name for each in operator.arrays]
        given = dict(axes)
        results = given.pop(RESULT, 0)
        self.results = (results,) * operator.results if isinstance(results, int) else tuple(results)
        unknown = sorted(set(given) - set(names))
        if unknown or not given:
            what = f"has no array {unknown[0]!r}" if unknown else "is split along no axis"
            raise UsageError(f"the operator {operator.name} {what}", hint=f'split={{"{names[0]}": 0, "{RESULT}": 0}}')
        if len(self.results) != operator.results or any(type(axis) is not int for axis in given.values()):
            raise UsageError(
                f"the operator {operator.name}: split= has an axis for each array, and one a result in {RESULT!r}",
                hint=f'split={{"{next(iter(given))}": 0, "{RESULT}": 0}}',
            )
        self.inputs: dict[str, int] = {name: axis for name, axis in given.items() if isinstance(axis, int)}


def check(operator: Operator, args: tuple[Any, ...], named: Mapping[str, Any], parts: int) -> None:
    """Run the operator on arrays of NumPy and on parts of them. Raises UsageError where that is not the same."""
    import numpy as np

    if operator.split is None:
        raise UsageError(f"the operator {operator.name} is not said to be split", hint="say split= in its description")
    arrays, statics = operator.bind(args, named)
    wholes = _several(operator.on(arrays, statics))
    pieces = [
        _several(operator.on([each[part] for each in _in_parts(operator, operator.split, arrays, parts)], statics))
        for part in range(parts)
    ]
    for number, (whole, axis) in enumerate(zip(wholes, operator.split.results, strict=True)):
        joined = np.concatenate([np.asarray(piece[number]) for piece in pieces], axis)
        if joined.shape != whole.shape or not np.allclose(joined, whole, _SAME, _SAME * np.abs(whole).max()):
            raise UsageError(
                f"the operator {operator.name}: result {number} of {parts} parts is not that of the whole",
                hint="what one part needs of another has to be exchanged: leave split= away, or hand on the edges",
            )


def _in_parts(operator: Operator, split: Split, arrays: Sequence[Any], parts: int) -> list[list[Any]]:
    import numpy as np

    return [
        [np.ascontiguousarray(part) for part in np.array_split(array, parts, split.inputs[each.name])]
        if each.name in split.inputs and array is not None
        else [array] * parts
        for each, array in zip(operator.arrays, arrays, strict=True)
    ]


def _several(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)
