"""Compiles every kernel of the collection, with its gradient, for AMD GPUs: assembly only, nothing is run.

    python -m cuda_kernels.build_amd FOLDER [--arch gfx90a --arch gfx942]

Kernels with features that only NVIDIA GPUs have are listed with the reason.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import click

from cuda_kernels.case import Case
from cuda_kernels.suite import CASES
from enzyme_driver import pipeline, request
from enzyme_driver.errors import RefusedError
from enzyme_driver.settings import Settings
from enzyme_driver.targets.amdgpu import ARCHS


def compile_case(case: Case, arch: str, folder: Path) -> str:
    """Write the assembly; why there is none, where it is refused."""
    wanted = request.new(case.path, names=[case.kernel], targets=["cuda"], activity=case.activity)
    try:
        text = pipeline.emit(wanted, arch, settings=Settings.from_environment())
    except RefusedError as refusal:
        return refusal.reason
    path = folder / arch / f"{case.name}.s"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", action="append", choices=ARCHS)
    options = parser.parse_args()
    archs = options.arch or ARCHS
    reasons = {(case.name, arch): compile_case(case, arch, options.folder) for case in CASES for arch in archs}
    refused = {name: reason for name, reason in reasons.items() if reason}
    click.echo(f"{len(reasons) - len(refused)} of {len(reasons)} compiled", err=True)
    for (name, arch), reason in refused.items():
        click.echo(f"not for {arch}: {name}: {reason}", err=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
