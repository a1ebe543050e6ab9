"""What verifying finds in the collection and in all programs on the host.

    python -m programs.verified [--every N] [NAME ...]

Takes minutes. Prints what was not found right, and the counts; leaves with status 1 where a gradient is wrong, a race
is named, or something is said that nobody asked for.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import click
import numpy as np
from programs.table import PROGRAMS

import enzyme_driver as adgen
from cuda_kernels.case import Case, Pointers
from cuda_kernels.check import problem
from cuda_kernels.suite import CASES
from enzyme_driver.runtime.transforms.guard import _verification, mismatch, raced
from enzyme_driver.runtime.transforms.verdict import Verdict

Subject = Any  # a Kernel or a Function


def of_collection(case: Case) -> tuple[Subject, list[Any], Any]:
    kernel = adgen.compile(case.path, kernel=case.kernel, activity=dict(case.activity), verify="first")
    given = problem(case, 0).args.values()
    return kernel, [{**v.values, **v.arrays} if isinstance(v, Pointers) else v for v in given], case.launch


def of_programs(program: Any) -> tuple[Subject, list[Any], Any]:  # noqa: ANN401
    words = {"function" if program.block is None else "kernel": program.entry}
    subject = adgen.compile(program.path, activity=program.activity, verify="first", **words)
    args = program.make(np.random.default_rng(0))
    return subject, list(args.values()), None if program.block is None else program.launch


def subjects(names: list[str], every: int) -> Iterator[tuple[str, Callable[[], tuple[Subject, list[Any], Any]]]]:
    cases = [(case.name, lambda case=case: of_collection(case)) for case in CASES]
    programs = [(each.name, lambda each=each: of_programs(each)) for each in PROGRAMS if not each.refused]
    for number, (name, make) in enumerate([*cases, *programs]):
        if any(part in name for part in names) if names else number % every == 0:
            yield name, make


def verdict(subject: Subject, args: list[Any], launch: Any) -> Verdict | str:  # noqa: ANN401
    """As a guard finds it; a text for one that it does not come to."""
    from enzyme_driver.runtime.call.geometry import launch_of

    if subject.guard is None:
        return f"no gradient: {subject.gradient_refusal}"
    bound = subject._arguments.bind(tuple(args), {})
    with _verification():
        found: Verdict = subject.guard._verdict(subject, bound, launch_of(launch) if launch else None)
    return found


def said(subject: Subject, found: Verdict) -> str:
    if found.race:
        return str(raced(subject, found, found.race))
    return str(mismatch(subject, found, "adgen bisect")) if found.state == "wrong" else found.reason


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    counts, alarms = Counter[str](), 0
    for name, make in subjects(options.names, options.every):
        try:
            subject, args, launch = make()
        except adgen.RefusedError as problem:
            click.echo(f"{name}: refused: {problem.reason}")
            continue
        found = verdict(subject, args, launch)
        if isinstance(found, str):
            click.echo(f"{name}: {found}")
            continue
        counts[found.state] += 1
        alarms += found.state in {"wrong", "race"} or found.notable
        if found.state != "right" or found.blocks:
            click.echo(
                f"{name}: {found.state}{' (said)' if found.notable else ''}: {said(subject, found)} {found.blocks}"
            )
    click.echo(", ".join(f"{count} {state}" for state, count in counts.items()))
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
