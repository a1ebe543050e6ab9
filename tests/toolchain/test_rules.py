"""The device rules that lanes compute together, run on the host: contexts of one thread stand for a warp's lanes."""

from __future__ import annotations

import subprocess
from pathlib import Path

from enzyme_driver import resources
from enzyme_driver.toolchain import Toolchain

HARNESSES = Path(__file__).parents[1] / "rules"


def _said_of(rules: str, toolchain: Toolchain, folder: Path) -> tuple[int, str]:
    """What the program beside these rules prints, which is what is wrong."""
    file = next(path for path in resources.own_sources("rules") if path.name == f"{rules}.cu")
    compiler = toolchain.clang.prefix / "bin" / "clang++"
    flags = (*toolchain.link_flags, "-std=c++20", "-O1", "-w", f'-DRULES="{file}"')
    subprocess.run([compiler, *flags, HARNESSES / f"{rules}.cpp", "-o", folder / "warp"], check=True, timeout=120)
    done = subprocess.run([folder / "warp"], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout


def test_lanes_add_up_what_they_have_in_common(toolchain: Toolchain, tmp_path: Path) -> None:
    """For every group of lanes, with any lanes missing: the sums are right, one addition a group."""
    assert _said_of("accumulate", toolchain, tmp_path) == (0, "")


def test_what_is_sent_to_a_segment_comes_back_as_its_sum(toolchain: Toolchain, tmp_path: Path) -> None:
    """Also where a segment's lanes are not side by side, as those that have a maximum before the last exchange."""
    assert _said_of("shuffle", toolchain, tmp_path) == (0, "")
