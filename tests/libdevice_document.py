"""docs/mathematics.md: what a sweep found, function by function. Run by itself, it writes the page's beginning anew."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from libdevice_function import Function, Precision
from libdevice_support import Outcome, Trial

TITLES = {
    "elementary": "Elementary functions",
    "special": "Special functions",
    "piecewise": "Functions in pieces",
    "fast": "Fast forms",
    "rounding": "Arithmetic with a rounding mode",
    "conversion": "Conversions",
    "bits": "Floating point by its bits",
    "half": "Half precision",
    "integer": "Functions of integers",
}

INTRODUCTION = """\
# Device mathematics

Every function of CUDA's device mathematics, and whether its gradient is right. This page was written by
`tests/toolchain/libdevice_sweep.py`: it compiles each function in a kernel of its own, runs the gradient on the
OpenMP target at 64 fresh random points of the domain (both signs, large and small arguments, near the edges), and
compares with derivatives in 60 digits, with and without `fast_math`. The number is the largest relative error of a
slope; where a slope passes through zero, it is relative to the value by the argument. `tests/gpu/libdevice_gpu.py`
does the same on a GPU.{on_gpu}

Where the derivatives come from: for `sin`, `cos`, `tan`, `atan`, `sinh`, `cosh`, `tanh`, `exp`, `exp2`, `expm1`,
`log`, `log2`, `log10`, `log1p`, `sqrt`, `erf`, `erfc` and plain arithmetic from Enzyme's rules, for all else from
adgen's own in [mathematics.cu](../enzyme_driver/rules/mathematics.cu). The body of a libdevice function, which is
bits and tables, is differentiated only where it is arithmetic and nothing else.

The GPU runs libdevice's own code. The OpenMP target calls the C library where it has the function, in loops over
threads its vector library (off by up to four units in the last place; `--disable vector-math` leaves it out), and runs
libdevice's code otherwise; rounding modes are kept. `norm` and `rnorm` of an array are a chain of `hypot` on both.
"""

HERE = Path(__file__).resolve().parent
ON_GPU, PAGE = HERE / "libdevice_on_gpu.json", HERE.parent / "docs" / "mathematics.md"
"""What tests/gpu/libdevice_gpu.py found."""

CONVENTIONS = """\
## At edges and kinks

Where a function has no derivative, slopes are one-sided: of two equal arguments of a maximum or minimum the first
counts. A function that is constant in pieces has slope 0 everywhere, also where it jumps, and what is converted to
an integer carries no derivative on. With `fast_math` nothing is said of NaN and infinities.

| at | slopes |
|---|---|
"""


def introduction() -> str:
    """The page's beginning, with what was found on a GPU where one has been asked."""
    if not ON_GPU.exists():
        return INTRODUCTION.format(on_gpu="")
    found = json.loads(ON_GPU.read_text(encoding="utf-8"))
    counts = f"{found['right']} right, {len(found['refused'])} refused, {len(found['wrong'])} wrong"
    return INTRODUCTION.format(on_gpu=f" On an {found['device']}, {found['date']}: {found['tried']} tried, {counts}.")


def document(found: Sequence[Outcome]) -> str:
    """The whole page, from the outcomes of a sweep over all functions."""
    groups = {group: list(members) for group, members in groupby(found, key=lambda o: o.trial.function.group)}
    tables = [_section(title, groups[group]) for group, title in TITLES.items() if group in groups]
    return "\n".join([introduction(), *tables, CONVENTIONS + "\n".join(_edges(groups.get("edge", ()))) + "\n"])


def _section(title: str, found: Sequence[Outcome]) -> str:
    rows = [f"## {title}\n", "| function | float | double | float, fast_math |", "|---|---|---|---|"]
    functions = dict.fromkeys(outcome.trial.function for outcome in found)
    for function in functions:
        cells = [_cell(found, function, precision, fast_math) for precision, fast_math in _COLUMNS]
        rows.append(f"| `{_call(function)}` | {' | '.join(cells)} |")
    return "\n".join([*rows, ""])


_COLUMNS: tuple[tuple[Precision, bool], ...] = (("float32", False), ("float64", False), ("float32", True))


def _cell(found: Iterable[Outcome], function: Function, precision: Precision, fast_math: bool) -> str:
    trial = Trial(function, precision)
    outcome = next((o for o in found if o.trial == trial and o.fast_math == fast_math), None)
    if outcome is None:
        return "-"
    text = f"{outcome.errors.slope:.0e}" if outcome.errors else "refused"
    return f"**wrong** ({text})" if outcome.word == "WRONG" else text


def _call(function: Function) -> str:
    return function.code.format(f="").replace("|", "\\|").rstrip(";")


def _edges(found: Iterable[Outcome]) -> Iterable[str]:
    """One row a point; the slopes are those that were expected, and found."""
    for outcome in found:
        function = outcome.trial.function
        if outcome.trial.precision == function.precisions[0]:
            slopes = ", ".join(_short(float(slope)) for slope in function.derivative((0.0,) * function.arity, 0))
            word = "" if outcome.right else f" ({outcome.word})"
            yield f"| `{function.name}` | {slopes}{word} |"


def _short(slope: float) -> str:
    return f"{slope:g}".replace("inf", "∞").replace("nan", "NaN")


if __name__ == "__main__":
    tables = PAGE.read_text(encoding="utf-8").partition("\n## ")
    PAGE.write_text(introduction() + tables[1] + tables[2], encoding="utf-8")
