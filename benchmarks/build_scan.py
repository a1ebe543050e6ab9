"""Compile what benchmarks/scan.py launches, for a machine that has a GPU but no compiler.

python -m benchmarks.build_scan FOLDER
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np

from enzyme_driver import cache, request, scan
from enzyme_driver.scan import kernels
from enzyme_driver.settings import Settings

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "examples" / "bitstream"))

CHAINS: dict[str, dict[str, Any]] = {
    "robertson": {"state": "state", "following": "next", "samples": "trajectories"},
    "kalman": {"state": "state", "following": "next", "samples": "tracks", "per_step": ("measured",)},
    "gru": {"state": "state", "following": "next_state", "samples": "samples", "per_step": ("bits",)},
}
"""The kernels of benchmarks/chains, as `Recurrence` names what they take."""
SIZES = {np.dtype(np.float32): (20,), np.dtype(np.float64): (3, 6)}


def main(folder: Path) -> int:
    import network

    chunks = [
        instance
        for dtype, sizes in SIZES.items()
        for size in sizes
        for direct in (False, True)
        for instance in (
            kernels.products_instance(dtype, size, direct),
            kernels.cotangents_instance(dtype, size, direct),
        )
    ]
    host = [
        kernels.host_instance(name, dtype, direct)
        for name in kernels.ARRAYS
        for dtype in kernels.C_TYPES
        for direct in (False, True)
    ]
    count = kernels.build(folder / "chunks", [(each, "cuda") for each in chunks] + [(each, "openmp") for each in host])
    for name, options in network.variants("cuda").items():
        _build(network.SOURCE, folder / "bitstream" / name, **options)
        count += 1
    for name, told in CHAINS.items():
        source, step = HERE / "chains" / f"{name}.cu", f"{name}_step"
        ways = scan.activities(source, step, state=told["state"], following=told["following"], target="cuda")
        for number, activity in enumerate(ways):
            _build(source, folder / name / str(number), kernel=step, activity=activity, modes=["batched"])
            count += 1
    _build(
        HERE / "chains" / "robertson.cu", folder / "robertson" / "run", kernel="robertson_run", activity={}, modes=[]
    )
    click.echo(f"{count + 1} artifacts in {folder}")
    return 0


def _build(
    source: Path, folder: Path, *, kernel: str, activity: dict[str, str], modes: list[str] | None = None
) -> None:
    asked = request.new(source, names=[kernel], targets=["cuda"], archs=["sm_90"], activity=activity, modes=modes or [])
    shutil.copytree(cache.build(asked, settings=Settings.from_environment()), folder, dirs_exist_ok=True)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
