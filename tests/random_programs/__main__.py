"""Checks the gradients of random programs at length.

    PYTHONPATH=.:tests python -m random_programs cuda|cpp [--first N] [--count N] [--mutated] [--folder DIR]
        [--record FILE]

Ends with 1 if one is wrong, crashes, or stops the compiler. A program is known by its number; kernels from 200000 on
are those of `grammar`, whose oracle are dual numbers.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from collections import Counter
from pathlib import Path

import click
from random_programs.batch import outcomes
from random_programs.programs import MUTATED_FROM, PRACTICE_FROM, kind
from random_programs.reduce import reduced
from random_programs.tally import recorded

FRESH = 10**9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=("cuda", "cpp"))
    parser.add_argument("--first", type=int, help="number of the first program; by default any")
    parser.add_argument("--mutated", action="store_true", help="kernels written down in another way")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=48, help="programs in a file")
    parser.add_argument("--reduce", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path("build/random_programs"), help="where the files are left")
    parser.add_argument("--record", type=Path, help="a JSON file to which the counts are added")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    begin = MUTATED_FROM if given.mutated else PRACTICE_FROM
    first = secrets.randbelow(FRESH) + begin if given.first is None else given.first
    last = first + given.count
    verdicts: Counter[str] = Counter()
    for start in range(first, last, given.at_once):
        found = outcomes(given.language, start, min(given.at_once, last - start), given.folder)
        if given.record:
            recorded(given.record, kind(given.language, start), "openmp", found)
        for outcome in found:
            verdicts[outcome.verdict] += 1
            if outcome.verdict != "right":
                click.echo(f"{outcome.number}: {outcome.verdict}: {outcome.why}")
            if given.reduce and outcome.bad and outcome.verdict != "undecided":
                click.echo(f"{outcome.number}: reduced to {reduced(given.language, outcome, given.folder)}")
    click.echo(", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    return 1 if verdicts.keys() - {"right", "refused"} else 0


if __name__ == "__main__":
    sys.exit(main())
