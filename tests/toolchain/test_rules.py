"""The device rules of accumulations, run on the host: contexts of one thread stand for the lanes of a warp."""

from __future__ import annotations

import subprocess
from pathlib import Path

from enzyme_driver import resources
from enzyme_driver.toolchain import Toolchain

HARNESS = Path(__file__).parents[1] / "rules" / "accumulate.cpp"


def test_lanes_add_up_what_they_have_in_common(toolchain: Toolchain, tmp_path: Path) -> None:
    """For every group of lanes, with any lanes missing: the sums are right, one addition a group."""
    rules = next(path for path in resources.own_sources("rules") if path.name == "accumulate.cu")
    compiler = toolchain.clang.prefix / "bin" / "clang++"
    flags = (*toolchain.link_flags, "-std=c++20", "-O1", "-w", f'-DRULES="{rules}"')
    subprocess.run([compiler, *flags, HARNESS, "-o", tmp_path / "warp"], check=True, timeout=120)
    done = subprocess.run([tmp_path / "warp"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")
