"""Checks the gradients of random programs at length.

    PYTHONPATH=.:tests python -m random_programs cuda|cpp [--first N] [--count N] [--folder DIR]

Ends with 1 if one is wrong, crashes, or stops the compiler. A program is known by its number; kernels from 200000 on
are those of `practice`, whose oracle are dual numbers.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import click
from random_programs.batch import outcomes

AT_ONCE = 12


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=("cuda", "cpp"))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--folder", type=Path, default=Path("build/random_programs"), help="where the files are left")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    verdicts: Counter[str] = Counter()
    for first in range(given.first, given.first + given.count, AT_ONCE):
        for outcome in outcomes(given.language, first, min(AT_ONCE, given.first + given.count - first), given.folder):
            verdicts[outcome.verdict] += 1
            if outcome.verdict != "right":
                click.echo(f"{outcome.number}: {outcome.verdict}: {outcome.why}")
    click.echo(", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    return 1 if verdicts.keys() - {"right", "refused"} else 0


if __name__ == "__main__":
    sys.exit(main())
