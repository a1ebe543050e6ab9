"""Runs a subject from an artifact that `races.instrumented` made; ThreadSanitizer was loaded into the process before.

python -m races.trial FOLDER SUBJECT SEED
"""

from __future__ import annotations

import sys
from pathlib import Path

from races.subjects import RACY, subjects

import enzyme_driver as adgen


def main(folder: str, name: str, seed: str) -> None:
    (compiled,) = adgen.load(Path(folder))
    (subjects() | {RACY.name: RACY})[name].run(compiled, int(seed))


if __name__ == "__main__":
    main(*sys.argv[1:])
