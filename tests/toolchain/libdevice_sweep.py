"""Every function of CUDA's device mathematics through adgen: is its gradient right, refused, or wrong?

    PYTHONPATH=.:tests python -m toolchain.libdevice_sweep [--only NAME] [--document FILE] [--cuda FOLDER]

Gradients of the OpenMP target are compared with derivatives in 60 digits on fresh random points, with and without
fast_math. `--document` writes docs/mathematics.md from the outcome. `--cuda` also assembles everything for a GPU, into
a folder that tests/gpu/libdevice_gpu.py runs on one, with the points and what is expected. Ends with 1 if anything is
wrong.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from libdevice_document import document
from libdevice_judge import PROBLEMS, Problem, compute, save
from libdevice_support import Outcome, Trial, files, judge, problem, source, trials
from libdevice_table import FUNCTIONS

import enzyme_driver as adgen
from cuda_kernels.places import Host
from enzyme_driver import pipeline, request
from enzyme_driver.model import Target
from enzyme_driver.settings import Settings


@dataclass(frozen=True)
class Found:
    """The outcome of a problem; `artifact` is the name of the folder that holds the trial's kernel."""

    artifact: str
    problem: Problem
    outcome: Outcome


@dataclass(frozen=True)
class Sweep:
    """Where artifacts of the host are made, and those of the GPU if they are wanted."""

    folder: Path
    cuda: Path | None
    rng: np.random.Generator

    def run(self, listed: Sequence[Trial]) -> Iterator[Found]:
        """Each trial without and with fast_math; of edges, which hold NaN and infinities, nothing is said with it."""
        for stem, group in files(listed).items():
            path = self.folder / f"{stem}.cu"
            path.write_text(source(group), encoding="utf-8")
            yield from self._file(path, group, fast_math=False)
            if not stem.startswith("edge"):
                yield from self._file(path, group, fast_math=True)

    def _file(self, path: Path, group: Sequence[Trial], *, fast_math: bool) -> Iterator[Found]:
        made = path.with_name(f"{path.stem}{'_fast' if fast_math else ''}.adgen")
        failure = _compile(path, made, "openmp", fast_math=fast_math)
        if self.cuda:
            failure = failure or _compile(path, self.cuda / made.name, "cuda", fast_math=fast_math)
        module = None if failure else adgen.load(made, target="openmp")
        for trial in group:
            given = problem(trial, self.rng, fast_math=fast_math)
            outcome = Outcome(trial, fast_math, given.tolerance, refused=failure)
            yield Found(made.name, given, _attempt(trial, module, given, fast_math=fast_math) if module else outcome)


def _compile(path: Path, made: Path, target: Target, *, fast_math: bool) -> str:
    """What was in the way of the whole file; empty if it was compiled."""
    wanted = request.new(
        path, names=[], targets=[target], archs=["sm_90"], activity=None, flags=[], fast_math=fast_math
    )
    try:
        pipeline.build(wanted, made, settings=Settings.from_environment())
    except adgen.AdgenError as failure:
        return f"{target}: {failure.reason}"
    return ""


def _attempt(trial: Trial, module: adgen.Module, given: Problem, *, fast_math: bool) -> Outcome:
    try:
        return judge(trial, given, compute(module[trial.kernel], given, Host()), fast_math=fast_math)
    except adgen.RefusedError as refusal:
        return Outcome(trial, fast_math, given.tolerance, refused=refusal.reason)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="the functions, or the group, of this name")
    parser.add_argument("--document", type=Path, help="the page to write")
    parser.add_argument("--cuda", type=Path, help="the folder for what a GPU is to run")
    parser.add_argument("--seed", type=int, default=secrets.randbits(31))
    options = parser.parse_args()
    listed = trials(f for f in FUNCTIONS if options.only in {"", f.name, f.group})
    if options.cuda:
        options.cuda.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        found = list(Sweep(Path(scratch), options.cuda, np.random.default_rng(options.seed)).run(listed))
    if options.cuda:
        problems = {f"{each.artifact}/{each.outcome.trial.kernel}": each.problem for each in found}
        save(problems, options.cuda / PROBLEMS)
    return report([each.outcome for each in found], options)


def report(found: Sequence[Outcome], options: argparse.Namespace) -> int:
    for outcome in found:
        if not outcome.right:
            click.echo(str(outcome))
    counts = {word: sum(outcome.word == word for outcome in found) for word in ("right", "refused", "WRONG")}
    click.echo(f"seed {options.seed}: " + ", ".join(f"{number} {word}" for word, number in counts.items()))
    if options.document:
        options.document.write_text(document(found), encoding="utf-8")
    return int(counts["WRONG"] > 0)


if __name__ == "__main__":
    sys.exit(main())
