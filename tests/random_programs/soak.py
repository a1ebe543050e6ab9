"""Checks fresh random programs for some time in many processes, on the host and on a GPU.

    PYTHONPATH=.:tests python -m random_programs.soak --seconds S [--processes N] [--gpu-share PART] [--folder DIR]
        [--record FILE]

Each process draws a batch of kernels or functions of `grammar`, some of them written down in another way, and compares
their gradients with dual numbers. Of a part of the batches of kernels, what is right on the host is run on the GPU too,
and compared with the host. What is not right is left in the folder as a file of its own. Ends in time: what is not
checked by then is not counted. With 1 where anything was wrong, crashed, hung, raced, or stopped the compiler.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import click
from random_programs.batch import Outcome, Patience, outcomes
from random_programs.programs import MUTATED_FROM, PRACTICE_FROM, kind, program
from random_programs.tally import cause, recorded

FRESH = 10**9
DRAWN = (("cuda", PRACTICE_FROM, 12), ("cuda", MUTATED_FROM, 5), ("cpp", PRACTICE_FROM, 3))
"""The language, the first number, and how often it is drawn."""
ONE_EACH = {"OMP_NUM_THREADS": "2", "KMP_BLOCKTIME": "0", "OPENBLAS_NUM_THREADS": "1"}
"""Processes that share a machine do not take all of its cores each."""
MARGIN = 1.5
"""A batch may take so many times what the one before took for each of its programs."""
MOST_BYTES = 2_000_000
"""Of files about programs that are not right."""


@dataclass
class Soak:
    """What was found, by the target and the verdict."""

    folder: Path
    record: Path | None
    gpu_share: float
    at_once: int
    until: float
    found: Counter[tuple[str, str]] = field(default_factory=Counter)
    left: int = MOST_BYTES
    lock: threading.Lock = field(default_factory=threading.Lock)

    def work(self, seed: int) -> None:
        """Batch after batch, as long as there is time; the last ones are as large as can be finished."""
        rng = random.Random(seed)
        each = 0.0
        while (left := self.until - time.monotonic()) > 0:
            language, begin, _ = rng.choices(DRAWN, [each[2] for each in DRAWN])[0]
            first = begin + rng.randrange(FRESH)
            on_gpu = language == "cuda" and rng.random() < self.gpu_share
            count = min(self.at_once, max(1, int(left / (MARGIN * each)))) if each else self.at_once
            folder = self.folder / f"{language}{first}"
            folder.mkdir(parents=True)
            try:
                self._batch(language, first, count, folder, on_gpu=on_gpu)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            each = (left - (self.until - time.monotonic())) / count

    def _batch(self, language: str, first: int, count: int, folder: Path, *, on_gpu: bool) -> None:
        patience = Patience(least=150, each=15, step=60, step_each=6, until=self.until)
        self._count(language, "openmp", outcomes("both" if on_gpu else language, first, count, folder, patience))
        if on_gpu:
            self._count(language, "cuda", outcomes("gpu", first, count, folder, patience))

    def _count(self, language: str, target: str, found: list[Outcome]) -> None:
        with self.lock:
            for each in found:
                self.found[target, each.verdict] += 1
                if each.verdict != "right":
                    self._leave(language, target, each)
            if self.record and found:
                recorded(self.record, kind(language, found[0].number), target, found)

    def _leave(self, language: str, target: str, outcome: Outcome) -> None:
        click.echo(f"{outcome.number} on {target}: {outcome.verdict}: {cause(outcome.why)}")
        text = f"// {language} on {target}: {outcome.verdict}\n"
        text += "".join(f"// {line}\n" for line in outcome.why.splitlines())
        text += program(outcome.number, cuda=language == "cuda").source
        if len(text) <= self.left:
            self.left -= len(text)
            (self.folder / f"{target}_{outcome.verdict}_{outcome.number}.txt").write_text(text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--gpu-share", type=float, default=0.0, help="part of the kernels that are run on a GPU, too")
    parser.add_argument("--at-once", type=int, default=16, help="programs in a file")
    parser.add_argument("--folder", type=Path, default=Path("build/soak"), help="where what is not right is left")
    parser.add_argument("--record", type=Path, help="a JSON file to which the counts are added")
    parser.add_argument("--seed", type=int, help="draws the numbers of the programs; by default others each time")
    given = parser.parse_args()
    if given.gpu_share and not find_spec("cupy"):
        parser.error("--gpu-share needs CuPy")
    os.environ.update(ONE_EACH)
    seed = random.SystemRandom().randrange(FRESH) if given.seed is None else given.seed
    began = time.monotonic()
    soak = Soak(given.folder, given.record, given.gpu_share, given.at_once, began + given.seconds)
    with ThreadPoolExecutor(given.processes) as pool:
        for done in [pool.submit(soak.work, seed + k) for k in range(given.processes)]:
            done.result()
    for (target, verdict), count in sorted(soak.found.items()):
        click.echo(f"{target}: {count} {verdict}")
    click.echo(f"{time.monotonic() - began:.0f} s, seed {seed}")
    return 1 if any(verdict not in {"right", "refused"} for _, verdict in soak.found) else 0


if __name__ == "__main__":
    sys.exit(main())
