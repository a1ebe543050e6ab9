"""Patterns and sparse Jacobians of the collection on the host against dense Jacobians.

    python -m cuda_kernels.sparsity_check [CASE ...]

For every array that a case writes by every array that it reads: the pattern that adgen finds holds each entry of the
dense Jacobian that is not zero, and the Jacobian out of the pattern's few directions is the dense one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import enzyme_driver as adgen
from cuda_kernels.case import Array, Case, Pointers
from cuda_kernels.suite import CASES, by_name
from enzyme_driver.errors import AdgenError
from enzyme_driver.runtime.call.geometry import launch_of
from enzyme_driver.runtime.call.members import flattened
from enzyme_driver.runtime.transforms.colouring import coloured
from enzyme_driver.runtime.transforms.jacobian import Asked
from enzyme_driver.runtime.transforms.sparsity import asked_arrays

LARGEST = 2**22
"""Entries of a dense Jacobian; of larger ones some columns are looked at."""
SAMPLE = 200

TOLERANCE = {2: 1e-2, 4: 1e-4, 8: 1e-10}


@dataclass(frozen=True)
class Found:
    """One pair of arrays: entries of the pattern, columns that were compared, their numbers that are not zero,
    directions, and what is wrong."""

    case: str
    of: str
    wrt: str
    entries: int = 0
    compared: int = 0
    nonzeros: int = 0
    directions: int = 0
    wrong: str = ""

    def __str__(self) -> str:
        said = (
            f"{self.entries} entries, {self.nonzeros} not zero in {self.compared} columns, {self.directions} directions"
        )
        return f"{self.case}: {self.of} by {self.wrt}: {self.wrong or said}"


def check(case: Case, seed: int = 0) -> Iterator[Found]:
    """Compile the case, and compare all its pairs."""
    kernel = adgen.compile(case.path, kernel=case.kernel, activity=dict(case.activity), modes=["forward"])
    args = [_handed(value) for value in case.make(np.random.default_rng(seed)).values()]
    for of, wrt in pairs(kernel, args):
        try:
            yield _compared(case, kernel, args, of, wrt)
        except AdgenError as problem:
            yield Found(case.name, of, wrt, wrong=problem.reason)


def pairs(kernel: Any, args: list[Any]) -> list[tuple[str, str]]:  # noqa: ANN401
    """Each array that is written with each that is read."""
    values = kernel._arguments.bind(args, {})  # noqa: SLF001
    names = [member for parameter in kernel.signature.shadowed for member in _members(parameter, values, kernel)]
    found = []
    for of in names:
        for wrt in names:
            try:
                (_, _), (given, _) = asked_arrays(kernel.signature, values, of, wrt)
            except AdgenError:
                continue
            if given.reads:
                found.append((of, wrt))
    return found


def _members(parameter: Any, values: Any, kernel: Any) -> list[str]:  # noqa: ANN401
    value = values[kernel.signature.names.index(parameter.name)]
    return [part.name for part, _ in flattened(parameter, value)]


def _handed(value: Any) -> Any:  # noqa: ANN401
    return {**value.values, **value.arrays} if isinstance(value, Pointers) else value


def _compared(case: Case, kernel: Any, args: list[Any], of: str, wrt: str) -> Found:  # noqa: ANN401
    launch = case.launch
    pattern = kernel.sparsity[launch](*args, of=of, wrt=wrt)
    found = kernel.jacobian[launch](*args, of=of, wrt=wrt, pattern=pattern)
    carry = partial(kernel._run_jvp, launch_of(launch))  # noqa: SLF001
    asked = Asked(kernel.signature, kernel._arguments.bind(args, {}), of, wrt, carry, carry)  # noqa: SLF001
    rows, count = pattern.shape
    few = rows * count > LARGEST
    columns = np.sort(np.random.default_rng(0).permutation(count)[:SAMPLE]) if few else np.arange(count)
    seeds = (columns[:, None] == np.arange(count)).astype(asked.given.dtype)
    dense = asked.forward(seeds).T if count else np.zeros(pattern.shape)
    return _judged(case, (of, wrt), pattern, columns, dense, found.tocsc()[:, columns].toarray())


def _judged(case: Case, pair: tuple[str, str], pattern: Any, columns: Array, dense: Array, found: Array) -> Found:  # noqa: ANN401
    missing = np.argwhere((dense != 0) & (pattern.tocsc()[:, columns].toarray() == 0))
    if len(missing):
        return Found(case.name, *pair, wrong=f"the pattern lacks {len(missing)} entries, such as {missing[0]}")
    apart = float(np.abs(found - dense).max(initial=0)) / max(float(np.abs(dense).max(initial=0)), 1e-30)
    if not apart <= case.slack * TOLERANCE[found.dtype.itemsize]:
        return Found(case.name, *pair, wrong=f"the sparse Jacobian is off by {apart:.1e}")
    known = coloured(pattern, pattern.shape)
    directions = known.column_colours if known.prefers_columns else known.row_colours
    return Found(case.name, *pair, pattern.nnz, len(columns), int(np.count_nonzero(dense)), directions)


def main(names: list[str]) -> int:
    wrong = 0
    for case in [by_name()[name] for name in names] or CASES:
        for found in check(case):
            sys.stdout.write(f"{found}\n")
            sys.stdout.flush()
            wrong += bool(found.wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
