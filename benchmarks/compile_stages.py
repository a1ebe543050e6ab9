"""What a cold compilation for a GPU is spent on: processor seconds of each tool, file by file.

    python -m benchmarks.compile_stages [--before TREE] PROGRAM:FILE[:FLAGS]... [--nvcc PROGRAM:FILE[:FLAGS]...]

TREE is a checkout of an older commit, whose compiler is measured in turn with this one; nvcc makes a cubin of the same
file (--nvcc gives it other flags). Wall time would say more of what else runs on the machine. Results are added to
results/compile_stages.json, from which docs/performance.md is made.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "compile_stages.json"
STAGES = {
    "clang": "reading",
    "describe": "preparing",
    "prepare CUDA": "preparing",
    "enzyme": "Enzyme",
    "between steps of Enzyme": "Enzyme",
    "verify": "Enzyme",
    "kernels": "optimising",
    "emit": "writing PTX",
    "ptxas": "ptxas",
}
"""What tools are started for, by the names that the pipeline gives them."""
NVCC = ("nvcc", "-arch=sm_90", "-O3", "-std=c++17", "-w", "-cubin")


@dataclass(frozen=True)
class Subject:
    """A file, and what its page calls it."""

    program: str
    path: Path
    flags: tuple[str, ...]

    @staticmethod
    def of(text: str) -> Subject:
        program, path, *flags = text.split(":", 2)
        return Subject(program, Path(path).resolve(), tuple(" ".join(flags).split()))

    @property
    def row(self) -> dict[str, str]:
        return {"program": self.program, "file": self.path.name}


def processor_seconds(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def stages(subject: Subject) -> dict[str, float]:
    """Compile once, one process after another, in this process and its children."""
    from enzyme_driver import command, pipeline, request
    from enzyme_driver.settings import Settings
    from enzyme_driver.stages.workspace import Workspace

    spent: defaultdict[str, float] = defaultdict(float)

    def run(argv: Sequence[str | Path], **options: Any) -> command.Completed:  # noqa: ANN401
        before = processor_seconds(resource.RUSAGE_CHILDREN)
        try:
            return command.run(argv, **options)
        finally:
            tool = re.sub(r"^adgen-\w{8}-", "", options["log"].stem)
            spent[STAGES.get(tool, tool)] += processor_seconds(resource.RUSAGE_CHILDREN) - before

    wanted = request.new(subject.path, targets=["cuda"], flags=subject.flags)
    own = processor_seconds(resource.RUSAGE_SELF)
    with (
        mock.patch.object(pipeline, "Workspace", partial(Workspace, run=run)),
        mock.patch.object(pipeline, "ThreadPoolExecutor", partial(ThreadPoolExecutor, max_workers=1)),
        tempfile.TemporaryDirectory() as folder,
    ):
        pipeline.build(wanted, Path(folder, "artifact"), settings=Settings.from_environment())
    spent["Python"] = processor_seconds(resource.RUSAGE_SELF) - own
    return {stage: round(seconds, 2) for stage, seconds in spent.items()}


def by(tree: Path | None, subject: Subject) -> dict[str, float]:
    """The same in a process of its own, by the compiler of a tree."""
    text = ":".join([subject.program, str(subject.path), " ".join(subject.flags)])
    argv = [sys.executable, str(Path(__file__).resolve()), "--stages", text]
    place = os.environ | {"PYTHONPATH": str(tree or ROOT)}
    done = subprocess.run(argv, env=place, check=True, capture_output=True, text=True)  # noqa: S603
    found: dict[str, float] = json.loads(done.stdout)
    return found


def of_nvcc(subject: Subject) -> float | None:
    """What nvcc takes for a cubin of the file; None where it does not compile it."""
    with tempfile.TemporaryDirectory() as folder:
        before = processor_seconds(resource.RUSAGE_CHILDREN)
        argv = [*NVCC, *subject.flags, str(subject.path), "-o", str(Path(folder, "cubin"))]
        done = subprocess.run(argv, check=False, capture_output=True, cwd=folder)  # noqa: S603
        spent = processor_seconds(resource.RUSAGE_CHILDREN) - before
    return round(spent, 2) if done.returncode == 0 else None


def measured(subject: Subject, for_nvcc: Subject, tree: Path | None, runs: int) -> dict[str, Any]:
    """The least of the runs, which are done in turn."""
    now, before, nvcc = [], [], []
    for _ in range(runs):
        now.append(by(None, subject))
        before += [by(tree, subject)] if tree else []
        nvcc.append(of_nvcc(for_nvcc))
    taken = [seconds for seconds in nvcc if seconds is not None]
    row: dict[str, Any] = {**subject.row, "stages": min(now, key=total), "nvcc": min(taken) if taken else None}
    return row | ({"before": round(min(map(total, before)), 2)} if tree else {})


def total(spent: dict[str, float]) -> float:
    return sum(spent.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", type=Subject.of, metavar="PROGRAM:FILE[:FLAGS]")
    parser.add_argument("--nvcc", nargs="*", type=Subject.of, default=[], metavar="PROGRAM:FILE[:FLAGS]")
    parser.add_argument("--before", type=Path, metavar="TREE")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--stages", type=Subject.of, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.stages:
        print(json.dumps(stages(given.stages)))
        return
    from benchmarks.compile_time import machine
    from benchmarks.results_file import merged

    others = {each.path: each for each in given.nvcc}
    data = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {"results": []}
    for subject in given.subjects:
        row = measured(subject, others.get(subject.path, subject), given.before, given.runs)
        print(f"{subject.program} {subject.path.name}: {total(row['stages']):.1f} s, nvcc {row['nvcc']}", flush=True)
        data = {
            "date": dt.datetime.now(dt.UTC).date().isoformat(),
            "machine": machine(),
            "results": merged(data["results"], [row], "program", "file"),
        }
        RESULTS.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
