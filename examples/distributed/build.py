"""Compiles what the subjects run, for machines without a compiler.

python distributed/build.py FOLDER                                  # here
ADGEN_BUILT=FOLDER python distributed/run.py --device cuda          # there
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import ratios
from processes import EXAMPLES, alone

from enzyme_driver import cli
from enzyme_driver import likelihood_ratio as lr
from enzyme_driver.scan import kernels

PROGRAMS = ("heat2d/heat2d.cu", "distributed/heat3d.cu", "distributed/dense.cu", "splatting/splat.cu")


def programs(folder: Path, arch: str) -> int:
    failed = 0
    for file in PROGRAMS:
        where = folder / "examples" / Path(file).stem
        failed |= cli.run(["compile", str(EXAMPLES / file), "-t", "cuda", "--arch", arch, "-o", str(where)])
    return failed


def of_scan(folder: Path, arch: str) -> None:
    import chunks

    instances = [
        make(np.dtype(np.float64), chunks.SIZE, direct)
        for make in (kernels.products_instance, kernels.cotangents_instance)
        for direct in (False, True)
    ]
    kernels.build(folder / "scan", [(instance, "cuda") for instance in instances], arch=arch)


def of_likelihood_ratios(folder: Path, arch: str) -> None:
    """Those kernels that a step on the host asks for."""
    find, wanted = lr.STORE.kernel, set()

    def noting(target: str, *asked: object) -> object:
        wanted.add(asked)
        return find(target, *asked)  # type: ignore[arg-type]

    lr.STORE.kernel = noting  # type: ignore[assignment]
    work = ratios.Work(alone("cpu"))
    work.gradient(np.arange(ratios.BATCH), 0)
    work.accuracy()
    for asked in sorted(wanted, key=str):
        lr.STORE.build(folder / "lr", *asked, arch=arch)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", default="sm_90")
    options = parser.parse_args()
    failed = programs(options.folder, options.arch)
    of_scan(options.folder, options.arch)
    of_likelihood_ratios(options.folder, options.arch)
    return failed


if __name__ == "__main__":
    sys.exit(main())
