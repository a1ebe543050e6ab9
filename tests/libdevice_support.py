"""Trials of device mathematics: kernels made from the table, points, and the comparison with what is expected."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import mpmath as mp
import numpy as np
from libdevice_function import DIGITS, Function, Precision
from libdevice_judge import POINTS, Array, Computed, Errors, Problem, errors, inputs

A_FILE = 20
"""Kernels in one file: ptxas takes a second for a gradient that holds Bessel functions in double."""
FORM = {"float32": "float", "float64": "double"}

HEADERS = "#include <algorithm>\n#include <cmath>\n#include <cuda_fp16.h>\n\n"
NEVER_REFUSED = "__global__ void copy(const float *x, float *y) { *y = *x; }\n"
"""Without it a file in which all is refused would not be compiled at all."""


@dataclass(frozen=True)
class Trial:
    """A function in one precision: a kernel."""

    function: Function
    precision: Precision

    @property
    def kernel(self) -> str:
        name = re.sub(r"\W+", "_", self.function.name).strip("_")
        return f"try_{name}_{FORM[self.precision]}"

    @property
    def text(self) -> str:
        form = FORM[self.precision]
        code = self.function.code.format(f="f" if form == "float" else "")
        statement = code if code.endswith(";") else f"y = {code};"
        names = inputs(self.function.arity)
        parameters = ", ".join(f"const {form} *{name}" for name in names)
        loads = " ".join(f"T {name[0]} = {name}[i];" for name in names)
        return (
            f"__global__ void {self.kernel}({parameters}, {form} *ys, int n) {{\n"
            f"  using T = {form};\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
            f"  {loads}\n  T y;\n  {statement}\n  ys[i] = y;\n}}\n"
        )


@dataclass(frozen=True)
class Outcome:
    """The errors of one trial, or why it has no gradient."""

    trial: Trial
    fast_math: bool
    tolerance: float
    errors: Errors | None = None
    refused: str = ""

    @property
    def right(self) -> bool:
        return self.errors is not None and max(self.errors.slope, self.errors.primal) <= self.tolerance

    @property
    def word(self) -> str:
        return "refused" if self.errors is None else "right" if self.right else "WRONG"

    def __str__(self) -> str:
        mode = " with fast_math" if self.fast_math else ""
        found, told = self.errors, self.refused
        if found:
            told = f"value {found.primal:.1e}, slope {found.slope:.1e} (allowed {self.tolerance:.0e}); {found.where}"
        return f"{self.word}: {self.trial.kernel}{mode}: {told}"


def trials(functions: Iterable[Function]) -> list[Trial]:
    return [Trial(function, precision) for function in functions for precision in function.precisions]


def source(listed: Sequence[Trial]) -> str:
    return HEADERS + "\n".join(trial.text for trial in listed) + NEVER_REFUSED


def files(listed: Iterable[Trial]) -> dict[str, list[Trial]]:
    """The trials of each file, by the file's stem: one group, not too many."""
    found: dict[str, list[Trial]] = {}
    for group, members in groupby(listed, key=lambda trial: trial.function.group):
        each = list(members)
        for k in range(0, len(each), A_FILE):
            found[f"{group}_{k // A_FILE}"] = each[k : k + A_FILE]
    return found


def problem(trial: Trial, rng: np.random.Generator, *, fast_math: bool = False) -> Problem:
    """Fresh points of the function's domain, and its values and slopes there in high precision."""
    function = trial.function
    points = [draw(rng, POINTS, trial.precision).astype(trial.precision) for draw in function.domains]
    with mp.workdps(DIGITS):
        rows = [(index, [float(p[index]) for p in points]) for index in range(POINTS)]
        values = np.array([_number(function.evaluate(row, index)) for index, row in rows])
        table = np.array([[_number(slope) for slope in function.derivative(row, index)] for index, row in rows])
    slopes = list(table.T)
    scales = [_scale(slope, values, point.astype(float)) for slope, point in zip(slopes, points, strict=True)]
    cotangents = rng.uniform(0.5, 2.0, POINTS).astype(trial.precision)
    return Problem(points, cotangents, values, slopes, scales, _tolerance(trial, fast_math=fast_math))


def _tolerance(trial: Trial, *, fast_math: bool) -> float:
    wide = trial.precision == "float64"
    tolerance = trial.function.tolerance[wide]
    return max(tolerance, trial.function.fast) if fast_math and not wide else tolerance


def _number(value: Any) -> float:  # noqa: ANN401  (mpmath has no types)
    return float(mp.re(value))


def _scale(slope: Array, value: Array, point: Array) -> Array:
    """The slope's size, and where it passes through zero that of the value by the argument."""
    chord = np.divide(value, point, out=np.zeros_like(value), where=point != 0)
    return np.abs(slope) + np.abs(chord)


def judge(trial: Trial, given: Problem, made: Computed, *, fast_math: bool = False) -> Outcome:
    return Outcome(trial, fast_math, given.tolerance, errors(given, made))
