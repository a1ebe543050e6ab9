"""What verifying finds in the collection and in all programs, on the host or on a GPU.

    python -m programs.verified [--every N] [--target cuda] [--jobs 2] [NAME ...]

Takes minutes, and a compiler. Prints what was not found right, and the counts; leaves with status 1 where a gradient is
wrong, a race is named, or something is said that nobody asked for.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import click
import numpy as np
from programs.program import Program
from programs.soundness import with_arrays
from programs.table import GPU_PROGRAMS, PROGRAMS

import enzyme_driver as adgen
from cuda_kernels.case import Case, Pointers
from cuda_kernels.check import problem
from cuda_kernels.places import Gpu, Host, Place
from cuda_kernels.suite import CASES
from enzyme_driver.model import Target
from enzyme_driver.runtime.call.geometry import launch_of
from enzyme_driver.runtime.transforms.guard import _verification, mismatch, raced
from enzyme_driver.runtime.transforms.verdict import Verdict

Subject = Any  # a Kernel or a Function


Called = tuple[Subject, list[Any], Any]
"""What is verified, its arguments, and its launch."""


def of_collection(case: Case, target: Target) -> Called:
    kernel = adgen.compile(case.path, kernel=case.kernel, target=target, activity=dict(case.activity), verify="first")
    given = problem(case, 0).args.values()
    return kernel, [{**v.values, **v.arrays} if isinstance(v, Pointers) else v for v in given], case.launch


def of_programs(program: Program, target: Target) -> Called:
    words: dict[str, Any] = {"function" if program.block is None else "kernel": program.entry}
    subject = adgen.compile(program.path, target=target, activity=program.activity, verify="first", **words)
    args = program.make(np.random.default_rng(0))
    return subject, list(args.values()), None if program.block is None else program.launch


def subjects(options: argparse.Namespace) -> list[tuple[str, Callable[[], Called]]]:
    names, target = options.names, options.target
    programs = GPU_PROGRAMS if target == "cuda" else [each for each in PROGRAMS if not each.refused]
    made = [(case.name, partial(of_collection, case, target)) for case in CASES]
    made += [(each.name, partial(of_programs, each, target)) for each in programs]
    chosen = (
        any(part in name for part in names) if names else n % options.every == 0 for n, (name, _) in enumerate(made)
    )
    return [each for each, is_chosen in zip(made, chosen, strict=True) if is_chosen]


def verdict(subject: Subject, args: list[Any], launch: Any) -> Verdict | str:  # noqa: ANN401
    """As a guard finds it; a text for one that it does not come to."""
    if subject.guard is None:
        return f"no gradient: {subject.gradient_refusal}"
    place: Place = Gpu() if subject.target == "cuda" else Host()
    bound = subject._arguments.bind(tuple(with_arrays(value, place.put) for value in args), {})
    with _verification():
        found: Verdict = subject.guard._verdict(subject, bound, launch_of(launch) if launch else None)
    return found


def said(subject: Subject, found: Verdict) -> str:
    if found.race:
        return str(raced(subject, found, found.race))
    return str(mismatch(subject, found, "adgen bisect")) if found.state == "wrong" else found.reason


def found(options: argparse.Namespace, number: int) -> tuple[str, bool, str]:
    """The state, whether it is an alarm, and what there is to say."""
    try:
        subject, args, launch = subjects(options)[number][1]()
    except adgen.RefusedError as problem:
        return "refused", False, problem.reason
    verified = verdict(subject, args, launch)
    if isinstance(verified, str):
        return "without gradient", False, verified
    alarm = verified.state in {"wrong", "race"} or verified.notable
    if verified.state == "right" and not verified.blocks:
        return "right", alarm, ""
    return verified.state, alarm, f"{said(subject, verified)} {verified.blocks or ''}".rstrip()


def every(options: argparse.Namespace) -> Iterator[tuple[str, tuple[str, bool, str]]]:
    names = [name for name, _ in subjects(options)]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        yield from zip(names, pool.imap(partial(found, options), range(len(names))), strict=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--target", choices=("openmp", "cuda"), default="openmp")
    parser.add_argument("--jobs", type=int, default=1)
    counts, alarms = Counter[str](), 0
    for name, (state, alarm, text) in every(parser.parse_args()):
        counts[state] += 1
        alarms += alarm
        if text:
            click.echo(f"{name}: {state}{' (said)' if alarm else ''}: {text}")
    click.echo(", ".join(f"{count} {state}" for state, count in counts.items()))
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
