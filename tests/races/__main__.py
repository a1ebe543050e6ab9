"""Looks for races in the gradients of all programs, kernels and C++ benchmarks, with ThreadSanitizer.

    PYTHONPATH=.:tests python -m races [PATTERN...] [--reports FOLDER]

Ends with 1 if there are any.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

import click
from races.look import races
from races.subjects import subjects


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", default=["*"], help="of names of subjects")
    parser.add_argument("--reports", type=Path, help="where to write what ThreadSanitizer says")
    given = parser.parse_args()
    guilty = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, subject in subjects().items():
            if not any(fnmatch(name, pattern) for pattern in given.patterns):
                continue
            seed = secrets.randbits(31)
            reports = races(subject, seed, Path(scratch))
            guilty += bool(reports)
            click.echo(f"{name}: {f'{len(reports)} reports (seed {seed})' if reports else 'none'}")
            if reports and given.reports:
                given.reports.mkdir(parents=True, exist_ok=True)
                (given.reports / f"{name}.txt").write_text("\n\n".join(reports), encoding="utf-8")
    return 1 if guilty else 0


if __name__ == "__main__":
    sys.exit(main())
