"""Times gradients of recurrences with and without what makes them fast, and keeps the figures.

    python -m benchmarks.recurrences build FOLDER
    python -m benchmarks.recurrences measure FOLDER --output benchmarks/results/recurrences.json

The first compiles the kernels of tests/programs/state_recurrences.cu, the second runs where a GPU is. All in one
process, primal and gradients in turn, medians after warming up.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from enzyme_driver import cli

SOURCE = Path(__file__).parent.parent / "tests" / "programs" / "state_recurrences.cu"
PASSES = ("keep-states-once", "hoist-tape-loads", "unroll-local-arrays")
VARIANTS = {"none": "", **{name: name for name in PASSES}, "all": ",".join(PASSES)}
"""What is left out of each, by the folder's name."""
KERNELS = {"delta_rule": "delta_rule<64>", "decaying_scan": "decaying_scan", "light_unit": "light_unit"}


def build(folder: Path, arch: str) -> int:
    failed = 0
    for variant, left_out in VARIANTS.items():
        for name, kernel in KERNELS.items():
            words = ["compile", str(SOURCE), "-k", kernel, "-t", "cuda", "--arch", arch]
            without = [word for each in left_out.split(",") if each for word in ("--disable", each)]
            failed += bool(cli.run([*words, *without, "-o", str(folder / variant / name)]))
    return failed


def cases() -> dict[str, tuple[str, Callable[[], dict[str, Any]], Any, int]]:
    """Size, arguments, grid and block of each kernel."""
    from benchmarks.case import uniform

    def delta_rule() -> dict[str, Any]:
        names = ("query", "key", "value", "read", "write", "out")
        vectors = {name: uniform(256, 512, 64, low=-0.2, high=0.2) for name in names}
        return {"decay": uniform(256, 512, 64, low=-4.0), **vectors, "steps": 512}

    def decaying_scan() -> dict[str, Any]:
        wide = {name: uniform(8, 1024, 1024, low=-1.0) for name in ("x", "step", "y")}
        rows = {name: uniform(8, 1024, 16, low=-1.0) for name in ("in", "away")}
        rates = {"rate": uniform(1024, 16, low=-2.0, high=-0.2), "skip": uniform(1024)}
        return {**wide, **rows, **rates, "length": 1024, "channels": 1024}

    def light_unit() -> dict[str, Any]:
        wide = {name: uniform(256, 32768) for name in ("skip", "cells", "out")}
        rest = {"pre": uniform(256, 32768, 3), "peephole": uniform(2, 32768), "first": uniform(32768)}
        return {**wide, **rest, "steps": 256, "width": 32768}

    return {
        "delta_rule": ("256 sequences, 512 steps, 64 x 64 float", delta_rule, 256, 64),
        "decaying_scan": ("8 x 1,024 channels, 1,024 steps, 16 states, float", decaying_scan, (16, 8), 64),
        "light_unit": ("32,768 units, 256 steps, float", light_unit, 256, 128),
    }


def measure(folder: Path, output: Path) -> int:
    from benchmarks.case import Case, Floor
    from benchmarks.measure import device_name, measure_variants

    rows = []
    for name, (size, args, grid, block) in cases().items():
        case = Case(name, name, size, args, grid, block, 4.0, Floor(0))
        times, failures = measure_variants(case, {variant: folder / variant / name for variant in VARIANTS})
        milliseconds = {key: each.device for key, each in times.items()}
        stamp = {"device": device_name(), "date": datetime.now(UTC).date().isoformat()}
        rows.append({"case": name, "size": size, "ms": milliseconds, "failures": failures, **stamp})
        sys.stdout.write(f"{rows[-1]}\n")
        output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return any(row["failures"] for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=("build", "measure"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results/recurrences.json"))
    options = parser.parse_args()
    if options.what == "build":
        return build(options.folder, options.arch)
    return measure(options.folder, options.output)


if __name__ == "__main__":
    sys.exit(main())
